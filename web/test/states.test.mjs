// Every state that a purchase can get into, on the real service. Faults come from
// the sandbox; what a connection does is simulated by the browser.
import assert from 'node:assert/strict'
import { alone, api, atOrder, atReview, axe, base, button, buyName, connect, fund, heading, newAccount, openPage, pay, picture, problem, test, unroute } from './lib.mjs'

test('no wallet: on a desktop and on a phone', async () => {
  const desktop = await atOrder({ noWallet: true })
  await button(desktop.page, /^Buy for/).click()
  await heading(desktop.page, 'You need a wallet').waitFor()
  await axe(desktop.page, 'no wallet')
  await picture(desktop.page, 'no-wallet')
  await desktop.context.close()
  const phone = await atOrder({ noWallet: true, browser: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } })
  await button(phone.page, /^Buy for/).click()
  const link = phone.page.getByRole('link', { name: 'MetaMask' })
  assert.equal(await link.getAttribute('href'), 'https://link.metamask.io/dapp/' + phone.page.url().replace('http://', ''))
  await picture(phone.page, 'no-wallet-phone')
  await phone.context.close()
})

test('declined: connecting and signing', async () => {
  const { page, wallet, context } = await atOrder()
  wallet.refuse.add('eth_requestAccounts')
  await button(page, /^Buy for/).click()
  await connect(page)
  await page.getByText('You declined in your wallet').waitFor()
  wallet.refuse.clear()
  await connect(page)
  await heading(page, 'Before you sign').waitFor()
  wallet.refuse.add('eth_signTypedData_v4')
  await pay(page)
  await problem(page, 'refused').waitFor()
  await axe(page, 'declined')
  await picture(page, 'declined')
  wallet.refuse.clear()
  await pay(page) // the same offer can still be signed
  await heading(page, /is yours/).waitFor()
  await context.close()
})

test('wrong chain: switched, added, or told', async () => {
  const { page, wallet, context } = await atOrder({ chainId: 1 })
  wallet.refuse.add('wallet_switchEthereumChain')
  await button(page, /^Buy for/).click()
  await connect(page)
  await problem(page, 'chain').waitFor()
  await picture(page, 'wrong-chain')
  wallet.refuse.clear()
  await button(page, 'Try again').click() // unknown to the wallet, so it is added
  await heading(page, 'Before you sign').waitFor()
  assert.equal(wallet.chainId, 84532)
  assert.equal(wallet.asked('wallet_addEthereumChain').length, 1)
  await context.close()
})

test('too little USDC: test money, and on', async () => {
  const { page, wallet, context } = await atOrder({ poor: true })
  await button(page, /^Buy for/).click()
  await connect(page)
  await problem(page, 'poor').waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 0, 'the balance is checked before signing')
  await axe(page, 'too little USDC')
  await picture(page, 'poor')
  await button(page, 'Get test USDC and continue').click()
  await heading(page, 'Before you sign').waitFor()
  await context.close()
})

test('the sandbox says that it is one, and gives test money', async () => {
  const { page, wallet, context } = await openPage()
  await page.goto(base)
  await page.getByText('Test money only: names bought here do not exist in the public DNS.').waitFor()
  await button(page, 'Get test USDC').click()
  await connect(page)
  await page.getByText('Your wallet now has 1,000.00 USDC of test money.').waitFor()
  await picture(page, 'test-money')
  assert.equal((await fund(wallet.account.address, '1.00')).body.balance_usd, '1001.00')
  await context.close()
})

test('the account changes while the payment is on the page', async () => {
  const { page, wallet, context, name } = await atReview()
  const other = newAccount()
  await fund(other.address)
  await wallet.switchTo(page, other)
  await problem(page, 'switched').waitFor()
  await picture(page, 'switched')
  await button(page, /^Buy for/).click()
  await pay(page)
  await heading(page, /is yours/).waitFor()
  assert.equal((await api('GET', '/domains/' + name)).body.walletAddress, other.address.toLowerCase())
  await context.close()
})

test('the price changes, and the name is taken meanwhile', async () => {
  const { page, wallet, context, name } = await atOrder()
  await page.route('**/domains/check?*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replaceAll('13.06', '12.06') })
  })
  await page.reload()
  await button(page, 'Buy for 12.06 USDC').click()
  await connect(page)
  await problem(page, 'price').waitFor()
  await button(page, 'Sign and pay 13.06 USDC').waitFor()
  await picture(page, 'price-changed')
  await unroute(page)
  await button(page, 'Cancel').click()
  await buyName(newAccount(), name)
  await button(page, /^Buy for/).click()
  await problem(page, 'taken').waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 0)
  await axe(page, 'taken meanwhile')
  await picture(page, 'taken')
  await context.close()
})

test('too many requests: a countdown', async () => {
  const { page, context } = await openPage({ noWallet: true })
  await page.clock.install()
  let limited = true
  await page.route('**/domains/search?*', (route) =>
    limited
      ? route.fulfill({ status: 429, headers: { 'content-type': 'application/json', 'retry-after': '100' }, body: JSON.stringify({ error: 'Too many requests', code: 'RATE_LIMITED', message: 'wait 100 seconds', retryAfter: 100 }) })
      : route.continue(),
  )
  await page.goto(base)
  await page.getByLabel('Domain name').fill('example')
  await problem(page, 'limited').waitFor()
  assert.ok(await button(page, /^Try again in \d+ s/).isDisabled())
  await axe(page, 'too many requests')
  await picture(page, 'limited')
  limited = false
  await page.clock.fastForward(101_000)
  await page.getByRole('button', { name: 'Try again', exact: true }).click()
  await page.getByText('example.com').waitFor()
  await context.close()
})

alone('paid and not delivered: the refund is shown until it is confirmed', async () => {
  const { page, context, account } = await atReview()
  await api('POST', '/sandbox/faults', { registrar: 'refuse', times: 1 })
  await pay(page)
  await page.getByText(/It failed/).waitFor()
  await page.getByText('13.06 USDC paid back').waitFor()
  await page.locator('[data-refund]').waitFor()
  await axe(page, 'a failed order')
  await picture(page, 'refunded')
  assert.match(await page.locator('.steps').textContent(), /Paid.*did not deliver.*paid back/)
  assert.equal((await fund(account.address, '1.00')).body.balance_usd, '1001.00')
  await context.close()
})

test('the connection is lost while the payment is sent', async () => {
  const { page, wallet, context, name } = await atReview()
  let sign
  wallet.held = new Promise((resolve) => (sign = resolve))
  await pay(page)
  await button(page, 'Sign in your wallet…').waitFor()
  await context.setOffline(true)
  await page.getByText('No connection to the service. What you see').waitFor()
  sign()
  await page.getByText('The connection was lost. Your payment is kept').waitFor()
  await axe(page, 'offline')
  await picture(page, 'offline')
  await context.setOffline(false)
  await heading(page, `${name} is yours.`).waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 1)
  await context.close()
})

test('the wallet answers after the time limit of the payment', async () => {
  const { page, wallet, context, name } = await atReview()
  let sign
  wallet.held = new Promise((resolve) => (sign = resolve))
  await pay(page)
  await button(page, 'Sign in your wallet…').waitFor()
  await page.evaluate(() => {
    const now = Date.now
    Date.now = () => now() + 280_000
  })
  sign()
  await problem(page, 'stale').getByText('Please check again.').waitFor() // it was not sent
  await pay(page)
  await heading(page, `${name} is yours.`).waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 2)
  await context.close()
})

test('a reload at every step: the payment that was sent is repeated', async () => {
  const { page, wallet, context, name, account } = await atReview()
  await page.reload() // before signing: nothing is lost, nothing is paid
  await button(page, /^Buy for/).click()
  let sign
  wallet.held = new Promise((resolve) => (sign = resolve))
  await pay(page)
  await button(page, 'Sign in your wallet…').waitFor()
  await page.reload() // while the wallet is open: what it signs then reaches nobody
  sign()
  await button(page, /^Buy for/).click()
  await heading(page, 'Before you sign').waitFor()
  await page.route('**/domains/register', async (route) => {
    if (!route.request().headers()['payment-signature']) return route.continue()
    await route.fetch() // the service has it, but its answer is lost
    await route.abort()
  })
  await pay(page)
  await page.getByText('Your payment is kept').waitFor()
  await page.reload()
  await page.getByText('Your payment is kept').waitFor() // after the reload, too
  await unroute(page)
  await heading(page, `${name} is yours.`).waitFor()
  await page.reload() // at the receipt
  await heading(page, `${name} is yours.`).waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 2, 'once before the reload, once for the payment')
  assert.equal((await fund(account.address, '1.00')).body.balance_usd, '987.94', 'it was charged once')
  await context.close()
})

test('an answer that arrives while the page is being left is asked for again', async () => {
  const { page, context, name, account } = await atReview()
  let deliver
  const held = new Promise((resolve) => (deliver = resolve))
  await page.route('**/domains/register', async (route) => {
    if (route.request().headers()['payment-signature']) await held
    await route.continue()
  })
  await pay(page)
  const order = page.url()
  await page.locator('[data-step=sending]').waitFor()
  await page.evaluate(() => dispatchEvent(new Event('beforeunload'))) // what a reload does first
  deliver()
  await heading(page, `${name} is yours.`).waitFor()
  await page.goto(order) // where the reload ends
  await heading(page, `${name} is yours.`).waitFor()
  assert.equal((await fund(account.address, '1.00')).body.balance_usd, '987.94', 'it was charged once')
  await context.close()
})

test('a browser that says it is offline, and reaches the service', async () => {
  const { page, context } = await openPage({ noWallet: true })
  await page.addInitScript(() => Object.defineProperty(navigator, 'onLine', { get: () => false }))
  const banner = page.getByText('No connection to the service. What you see')
  await page.route('**/livez', (route) => route.abort())
  await page.goto(base)
  await banner.waitFor()
  await unroute(page)
  await banner.waitFor({ state: 'detached' }) // it is asked again
  const [answer] = await Promise.all([page.waitForResponse('**/livez'), page.reload()])
  await answer.finished()
  await page.getByLabel('Domain name').fill('example')
  await page.getByText('example.com').waitFor()
  assert.equal(await banner.count(), 0, 'a machine without a network may run the service itself')
  await context.close()
})

test('the service is gone', async () => {
  const { page, context } = await openPage({ noWallet: true })
  await page.goto(base)
  await page.route('**/domains/**', (route) => route.abort())
  await page.getByLabel('Domain name').fill('example')
  await problem(page, 'lost').waitFor()
  await axe(page, 'the service is gone')
  await picture(page, 'gone')
  await unroute(page)
  await button(page, 'Try again').click()
  await page.getByText('example.com').waitFor()
  await context.close()
})

test('a wallet that announces itself again, with another provider, is listed once', async () => {
  const { page, context } = await openPage()
  await context.addInitScript(() => {
    const info = { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Test Wallet', icon: '', rdns: 'example.wallet' }
    addEventListener('eip6963:requestProvider', () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request: async () => [] } } })))
  })
  await page.goto(base)
  await button(page, 'Connect wallet').click()
  await connect(page) // fails if there are two
  await button(page, 'Disconnect').waitFor()
  await context.close()
})

test('a wallet that is injected and does not announce itself', async () => {
  const { page, context } = await atOrder({ injected: true })
  await button(page, /^Buy for/).click()
  await button(page, 'Browser wallet').click()
  await heading(page, 'Before you sign').waitFor()
  await context.close()
})
