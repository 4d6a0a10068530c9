// The last test: it moves the clock of the sandbox.
import assert from 'node:assert/strict'
import { alone, api, axe, base, button, buyName, connect, newAccount, newName, openPage, pay, picture, signIn } from './lib.mjs'

alone('names that end soon: the notice with the price, and the way to renew', async () => {
  const account = newAccount()
  const name = newName()
  await buyName(account, name)
  await api('POST', '/sandbox/clock', { advance: '345d' })
  const { page, context } = await openPage({ account })
  await signIn(page, '/app/names')
  await page.locator('[data-ending]').getByText('One name expires within 30 days.').waitFor()
  await axe(page, 'names that end soon')
  await picture(page, 'ending')
  await page.getByRole('link', { name: 'Renew ' + name }).click()
  await button(page, 'Renew for 13.06 USDC').waitFor()
  await context.close()
})

alone('an expired name: the notice, the clock of the sandbox, and a renewal by anyone', async () => {
  const name = newName()
  await buyName(newAccount(), name)
  await api('POST', '/sandbox/clock', { advance: '370d' })
  const account = newAccount()
  await api('POST', '/sandbox/faucet', { walletAddress: account.address })
  const { page, context } = await openPage({ account })
  await page.goto(`${base}/app/names/${name}`)
  await page.getByText(/Renew it before/).waitFor()
  await page.getByText(/The registry's clock says/).waitFor()
  await axe(page, 'an expired name')
  await picture(page, 'expired')
  await page.goto(`${base}/app/names/${name}?tab=renew`)
  await button(page, 'Renew for 13.06 USDC').click()
  await connect(page)
  await pay(page)
  await page.getByText('Confirmed by the registry').waitFor()
  assert.equal((await api('GET', '/domains/' + name)).body.status, 'active')
  await context.close()
})
