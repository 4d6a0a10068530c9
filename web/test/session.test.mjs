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

test('webhooks and the calendar: add, test, new secret, delete', async () => {
  const { page, context, errors } = await openPage()
  await signIn(page, '/app/account')
  await page.getByLabel('Address of a webhook').fill('http://example.com/hook')
  await button(page, 'Add a webhook').click()
  await page.getByRole('alert').waitFor() // only https
  await page.getByLabel('Address of a webhook').fill('https://example.com/hook')
  await button(page, 'Add a webhook').click()
  await page.getByText('Secret, shown only now: whsec_').waitFor()
  const secret = await page.locator('.note strong.mono').textContent()
  await button(page, 'New secret of https://example.com/hook').click()
  await page.getByText('It has a new secret').waitFor()
  assert.notEqual(await page.locator('.note strong.mono').textContent(), secret)
  await button(page, 'Test https://example.com/hook').click()
  await page.getByText('webhook.test').waitFor()
  await button(page, 'Get a calendar of expiries').click()
  const feed = page.getByText(/\/calendar\/[\w-]+\.ics/)
  await feed.waitFor()
  await axe(page, 'webhooks')
  await picture(page, 'webhooks')
  const calendar = await fetch(base + new URL(await feed.textContent()).pathname)
  assert.equal(calendar.status, 200)
  await button(page, 'End the calendar').click()
  await button(page, 'Get a calendar of expiries').waitFor()
  await button(page, 'Delete https://example.com/hook').click()
  await button(page, 'Yes, delete').click()
  await page.getByText('The webhook is deleted.').waitFor()
  assert.equal(await button(page, 'Test https://example.com/hook').count(), 0)
  assert.deepEqual(errors, [])
  await context.close()
})
