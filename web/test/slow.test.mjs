import assert from 'node:assert/strict'
import { alone, api, atReview, axe, base, buyName, fund, heading, newAccount, newName, openPage, pay, picture, test, unroute } from './lib.mjs'

alone('a registry that takes its time: the order goes on through reloads', async () => {
  const { page, wallet, context, name } = await atReview()
  await api('POST', '/sandbox/faults', { registrar: 'late', times: 1 })
  await pay(page)
  await page.getByText('Waiting for the registry').waitFor() // 202
  await axe(page, 'an order that waits')
  await picture(page, 'waiting')
  await page.reload()
  await heading(page, `${name} is yours.`).waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 1)
  await context.close()
})

test('an order that takes minutes says by when it is done or paid back', async () => {
  const account = newAccount()
  const { body } = await buyName(account, newName())
  const { page, context } = await openPage({ noWallet: true })
  await page.clock.install()
  await page.route('**/domains/status/*', async (route) => {
    if (route.request().headers().accept.includes('event-stream')) return // a stream that is silent
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), status: 'processing', completed: false, createdAt: new Date().toISOString() } })
  })
  await page.goto(`${base}/app/jobs/${body.jobId}`)
  await page.getByText('Waiting for the registry').waitFor()
  assert.equal(await page.getByText('This takes longer than usual').count(), 0)
  await page.clock.fastForward(60_000)
  await page.getByText('This takes longer than usual').waitFor()
  await axe(page, 'an order that takes minutes')
  await picture(page, 'minutes')
  await unroute(page)
  await context.close()
})

test('two tabs with one payment: it is charged once, and both arrive', async () => {
  const { page, wallet, context, name, account } = await atReview()
  await page.route('**/domains/register', (route) => (route.request().headers()['payment-signature'] ? route.abort() : route.continue()))
  await pay(page)
  await page.getByText('Your payment is kept').waitFor()
  const second = await context.newPage()
  await second.goto(`${base}/app/buy/${name}`)
  await heading(second, `${name} is yours.`).waitFor()
  await unroute(page)
  await heading(page, `${name} is yours.`).waitFor()
  assert.equal(second.url(), page.url())
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 1)
  assert.equal((await fund(account.address, '1.00')).body.balance_usd, '987.94')
  await context.close()
})
