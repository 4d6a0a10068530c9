import assert from 'node:assert/strict'
import { axe, button, buyName, endSession, heading, newAccount, newName, openPage, picture, problem, signIn, test, unroute } from './lib.mjs'

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

test('a computer whose clock is three hours ahead: signing in', async () => {
  const { page, context } = await openPage()
  await page.clock.install({ time: Date.now() + 3 * 60 * 60 * 1000 })
  await signIn(page, '/app/names')
  await heading(page, 'No names yet').waitFor()
  await context.close()
})

test('another account in the wallet: signing in as it', async () => {
  const { page, wallet, context } = await openPage()
  await signIn(page, '/app/names')
  await heading(page, 'No names yet').waitFor()
  await axe(page, 'no names')
  await page.route('**/account/domains?limit=50*', async (route) => {
    const response = await route.fetch()
    const one = { domain: 'example.com', status: 'active', expiresAt: '2099-01-02T03:04:05Z', locked: true, renewal_price_usd: '' } // of a TLD that is no longer sold
    await route.fulfill({ response, json: { ...(await response.json()), domains: [one], total: 51 } })
  })
  await page.reload()
  await button(page, 'More').click()
  await page.getByText('51 to 51 of 51').waitFor()
  await page.getByText('not sold here').waitFor()
  await unroute(page)
  const other = newAccount()
  const name = newName()
  await buyName(other, name)
  await wallet.switchTo(page, other)
  await button(page, 'Sign in with the new account').click()
  await button(page, 'Sign in').click()
  await page.getByRole('link', { name }).waitFor()
  await context.close()
})

test('a connection that is lost while the token is renewed does not end the session', async () => {
  const { page, wallet, context } = await openPage()
  await signIn(page, '/app/names')
  await heading(page, 'No names yet').waitFor()
  await page.route('**/auth/refresh', (route) => route.abort())
  await page.reload()
  await problem(page, 'lost').waitFor()
  await unroute(page)
  await button(page, 'Try again').click()
  await heading(page, 'No names yet').waitFor()
  assert.equal(wallet.asked('personal_sign').length, 1)
  await context.close()
})

test('a session that was ended elsewhere', async () => {
  const { page, context } = await openPage()
  await signIn(page, '/app/names')
  await heading(page, 'No names yet').waitFor()
  await endSession(page)
  await page.reload()
  await heading(page, 'Your session has ended').waitFor()
  await picture(page, 'session-ended')
  await button(page, 'Sign in').click()
  await heading(page, 'No names yet').waitFor()
  await context.close()
})
