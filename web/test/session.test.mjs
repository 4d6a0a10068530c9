import assert from 'node:assert/strict'
import { api, axe, base, button, buyName, heading, newAccount, newName, openPage, picture, signIn, test } from './lib.mjs'

test('an expired token is renewed once, silently', async () => {
  const account = newAccount()
  const name = newName()
  await buyName(account, name)
  const { page, wallet, context } = await openPage({ account })
  await signIn(page, '/app/names')
  await page.getByRole('link', { name }).waitFor()
  let spoilt = 0
  await page.route('**/account', (route) =>
    spoilt++ ? route.continue() : route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer stale' } }),
  )
  await page.getByRole('link', { name: 'Account' }).click()
  await heading(page, 'Payments and refunds').waitFor()
  await page.getByRole('cell', { name: '13.06 USDC paid' }).waitFor() // an event
  assert.equal(spoilt, 2, 'the call was not repeated')
  assert.equal(wallet.asked('personal_sign').length, 1)
  await axe(page, 'the account')
  await picture(page, 'account')
  await context.close()
})

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

test('another account in the wallet: signing in as it', async () => {
  const { page, wallet, context } = await openPage()
  await signIn(page, '/app/names')
  await heading(page, 'No names yet').waitFor()
  await axe(page, 'no names')
  const other = newAccount()
  const name = newName()
  await buyName(other, name)
  await wallet.switchTo(page, other)
  await button(page, 'Sign in with the new account').click()
  await button(page, 'Sign in').click()
  await page.getByRole('link', { name }).waitFor()
  await context.close()
})

test('a session that was ended elsewhere', async () => {
  const { page, context } = await openPage()
  await signIn(page, '/app/names')
  await heading(page, 'No names yet').waitFor()
  const token = await page.evaluate(() => JSON.parse(sessionStorage.getItem('deed.session')).refresh)
  await api('POST', '/auth/refresh', { refreshToken: token })
  await api('POST', '/auth/refresh', { refreshToken: token }) // used twice: the service ends the session
  await page.reload()
  await heading(page, 'Your session has ended').waitFor()
  await button(page, 'Sign in').click()
  await heading(page, 'No names yet').waitFor()
  await context.close()
})
