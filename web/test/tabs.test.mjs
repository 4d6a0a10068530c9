import assert from 'node:assert/strict'
import { base, button, buyName, heading, newAccount, newName, openPage, signIn, test } from './lib.mjs'

test('a duplicated tab does not end the session', async () => {
  const account = newAccount()
  await buyName(account, newName())
  const { page, wallet, context } = await openPage({ account })
  await signIn(page, '/app/account')
  await heading(page, 'Payments and refunds').waitFor()
  // The browser copies sessionStorage into a window that the page opens, as it does
  // into a duplicated tab.
  const [copy] = await Promise.all([context.waitForEvent('page'), page.evaluate((url) => void window.open(url), base + '/app/account')])
  await heading(copy, 'Payments and refunds').waitFor()
  for (let i = 0; i < 3; i++) {
    await Promise.all([page.reload(), copy.reload()]) // both lose the access token at once
    await Promise.all([heading(page, 'Payments and refunds').waitFor(), heading(copy, 'Payments and refunds').waitFor()])
  }
  // A new tab without a copy asks the others.
  const third = await context.newPage()
  await third.goto(base + '/app/account')
  await heading(third, 'Payments and refunds').waitFor()
  assert.equal(wallet.asked('personal_sign').length, 1)

  await button(page, 'Sign out everywhere').click()
  await button(page, 'Yes, end all sessions').click()
  await Promise.all([page, copy, third].map((p) => heading(p, 'Sign in with your wallet').waitFor()))
  await context.close()
})
