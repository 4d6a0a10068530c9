// Faults of the connection and of the wallet, while something is paid.
import assert from 'node:assert/strict'
import { atOrder, atReview, base, button, buyName, connect, endSession, fund, heading, newAccount, newName, openPage, pay, problem, signIn, test, unroute } from './lib.mjs'

test('a payment whose answer was lost is refused by a proxy, then limited: the same one is sent again', async () => {
  const { page, wallet, context, name, account } = await atReview()
  let sent = 0
  await page.route('**/domains/register', async (route) => {
    if (!route.request().headers()['payment-signature']) return route.continue()
    sent++
    if (sent > 3) return route.continue()
    if (sent === 2) return route.fulfill({ status: 403, contentType: 'text/html', body: '<h1>Forbidden</h1>' })
    if (sent === 3) return route.fulfill({ status: 429, json: { error: 'Too many requests', code: 'RATE_LIMITED', message: 'wait 1 second', retryAfter: 1 } })
    await route.fetch() // the service has it, but its answer is lost
    await route.abort()
  })
  await pay(page)
  await problem(page, 'other').waitFor()
  await button(page, /^Buy for/).click()
  await problem(page, 'limited').waitFor()
  await page.getByRole('button', { name: 'Try again', exact: true }).click()
  await heading(page, `${name} is yours.`).waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 1)
  assert.equal((await fund(account.address, '1.00')).body.balance_usd, '987.94', 'it was charged once')
  await context.close()
})

test('a session that ends while the answer to a payment is lost: the same one is sent again', async () => {
  const account = newAccount()
  const name = newName()
  await buyName(account, name)
  const { page, wallet, context } = await openPage({ account })
  await signIn(page, '/app/names/' + name)
  await button(page, 'Add a record').click()
  await page.getByLabel('Value').fill('192.0.2.1')
  await button(page, 'Add to the changes').click()
  await button(page, 'Review and pay 0.10 USDC').click()
  await page.route('**/batch', async (route) => {
    if (!route.request().headers()['payment-signature']) return route.continue()
    await route.fetch() // the service has it, but its answer is lost
    await route.abort()
  })
  await pay(page)
  await page.getByText('Your payment is kept').waitFor()
  await endSession(page)
  await page.reload()
  await heading(page, 'Your session has ended').waitFor()
  await unroute(page)
  await button(page, 'Sign in').click()
  await page.getByText('The changes are made.').waitFor()
  assert.equal(await page.locator('.bar').count(), 0)
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 1)
  assert.equal((await fund(account.address, '1.00')).body.balance_usd, '987.84', 'it was charged once')
  await context.close()
})

test('a payment that the service does not take at the moment: it is not hurried', async () => {
  const { page, wallet, context, name } = await atReview()
  await page.clock.install()
  let sent = 0
  await page.route('**/domains/register', (route) =>
    route.request().headers()['payment-signature'] && ++sent < 3
      ? route.fulfill({ status: 503, headers: { 'retry-after': '60' }, json: { error: 'Service unavailable', code: 'SERVICE_UNAVAILABLE', message: 'try again in a minute', retryAfter: 60 } })
      : route.continue(),
  )
  await pay(page)
  await page.getByText('The service cannot take it at the moment. Your payment is kept').waitFor()
  const settled = () => page.evaluate(() => fetch('/livez').then((r) => r.text())) // the page has read what came before
  await page.clock.fastForward(45_000)
  await settled()
  assert.equal(sent, 1)
  const again = page.waitForResponse('**/domains/register')
  await page.clock.fastForward(16_000)
  await (await again).finished()
  await settled()
  await page.clock.fastForward(61_000)
  await heading(page, `${name} is yours.`).waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 1)
  await context.close()
})

test('a wallet that is locked, before and during a payment', async () => {
  const { page, wallet, context } = await atOrder()
  const handle = wallet.handle.bind(wallet)
  wallet.handle = (method, params) => {
    if (method === 'eth_requestAccounts') throw Object.assign(new Error('Request already pending.'), { code: -32002 })
    return handle(method, params)
  }
  await button(page, /^Buy for/).click()
  await connect(page)
  await page.getByText('Your wallet waits for you.').waitFor()
  wallet.handle = handle
  await connect(page)
  await heading(page, 'Before you sign').waitFor()
  await page.evaluate(() => window.deedEmit('accountsChanged', []))
  await problem(page, 'switched').getByText('It may be locked.').waitFor()
  await button(page, 'Connect wallet').waitFor()
  await context.close()
})

test('answers of something else than the service', async () => {
  const { page, context, name, errors } = await atReview()
  let answer = { status: 200, contentType: 'text/html', body: '<h1>Sign in to the network</h1>' }
  let sent = 0
  await page.route('**/domains/**', (route) => route.fulfill(sent++ ? answer : { status: 200, contentType: 'text/plain', body: 'OK' }))
  await pay(page)
  await page.getByText('Your payment is kept').waitFor()
  await page.waitForRequest(() => sent > 2)
  const other = await context.newPage()
  await other.route('**/domains/search*', (route) => route.fulfill(answer))
  await other.goto(base)
  for (answer of [answer, { ...answer, status: 502 }]) {
    await other.getByLabel('Domain name').fill('example' + answer.status)
    await problem(other, 'lost').getByText('No connection to the service').waitFor()
    await other.getByLabel('Domain name').fill('')
    await problem(other, 'lost').waitFor({ state: 'detached' })
  }
  await unroute(page)
  await heading(page, `${name} is yours.`).waitFor()
  assert.deepEqual(errors, [])
  await context.close()
})
