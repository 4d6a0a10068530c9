import assert from 'node:assert/strict'
import { atOrder, base, button, fund, heading, newAccount, newName, openPage, test } from './lib.mjs'

/** Presses Tab until the focus is on an element with this text or label. */
async function tabTo(page, text) {
  for (let i = 0; i < 60; i++) {
    const here = await page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim())
    if (text.test(here)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`the keyboard does not reach ${text}`)
}

test('the focus returns to the button that opened the list of wallets', async () => {
  const { page, context } = await atOrder()
  const closed = async (opener) => {
    await opener.focus()
    await page.keyboard.press('Enter')
    await heading(page, 'Connect a wallet').waitFor()
    await page.keyboard.press('Escape')
    await opener.and(page.locator(':focus')).waitFor()
  }
  await closed(button(page, /^Buy for/))
  await closed(button(page, 'Connect wallet'))
  await page.goto(base + '/app/names')
  await closed(button(page, 'Connect and sign in'))
  await context.close()
})

test('a name is bought with the keyboard alone', async (t) => {
  const account = newAccount()
  await fund(account.address)
  const { page, context } = await openPage({ account })
  const name = newName()
  const began = performance.now()
  await page.goto(base)
  await page.keyboard.press('Tab')
  await tabTo(page, /^$/) // the search field has no text
  await page.keyboard.type(name)
  await page.getByRole('link', { name: `Buy ${name}` }).waitFor()
  await tabTo(page, new RegExp(`^Buy ${name}$`))
  await page.keyboard.press('Enter')
  await heading(page, name).waitFor()
  await page.getByRole('button', { name: /^Buy for/ }).waitFor()
  await tabTo(page, /^Buy for/)
  await page.keyboard.press('Enter')
  await heading(page, 'Connect a wallet').waitFor()
  await tabTo(page, /^Test Wallet/)
  await page.keyboard.press('Enter')
  await heading(page, 'Before you sign').and(page.locator(':focus')).waitFor() // the focus follows
  await tabTo(page, /^Sign and pay/)
  await page.keyboard.press('Enter')
  await heading(page, `${name} is yours.`).waitFor()
  t.diagnostic(`from an empty page to an owned name: ${Math.round(performance.now() - began)} ms`)
  await context.close()
})
