// A browser with a wallet in it. The wallet is announced by EIP-6963; its key stays
// in Node, and every request that the page makes of it is recorded.
import { existsSync, mkdirSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import { chromium } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

export const base = process.env.DEED_URL
export const shots = process.env.DEED_SCREENSHOTS // folder, or nothing
const patience = 300_000 // a deadline, not a measurement: the machine may be busy

async function openBrowser() {
  const paths = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].filter((p) => p && existsSync(p))
  if (!paths[0]) throw new Error('Chromium is missing: scripts/need.sh chromium installs it')
  return chromium.launch({ executablePath: paths[0], args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
}

/** One browser for all tests; each has a context of its own. */
export const browser = await openBrowser()
after(() => browser.close())

// Tests mostly wait, so several run at a time. Those that change the whole service, its
// faults or its clock, and those that measure, run alone afterwards.
const together = []
const last = []
export const test = (name, run) => together.push([name, run])
export const alone = (name, run) => last.push([name, run])

/** Runs the tests of the files that were imported. */
export function runTests() {
  describe('together', { concurrency: 3 }, () => together.forEach(([name, run]) => it(name, run)))
  describe('alone', () => last.forEach(([name, run]) => it(name, run)))
}

export const newAccount = () => privateKeyToAccount(generatePrivateKey())

/** A name that no other test buys. */
export const newName = (prefix = 'page') => `${prefix}-${generatePrivateKey().slice(2, 12)}.com`

export async function api(method, path, body, headers = {}) {
  const res = await fetch(base + path, { method, headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers }, body: body && JSON.stringify(body) })
  return { status: res.status, headers: res.headers, body: await res.json() }
}

export const fund = (address, amount) => api('POST', '/sandbox/faucet', { walletAddress: address, ...(amount ? { amount_usd: amount } : {}) })

/** A page with a wallet. Options: account, chainId, noWallet, injected (a wallet
 * that does not announce itself), browser (options of the context). */
export async function openPage(o = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...o.browser })
  context.setDefaultTimeout(patience)
  const wallet = new TestWallet(o.account ?? newAccount(), o.chainId)
  if (!o.noWallet) await wallet.install(context, o.injected)
  const page = await context.newPage()
  const errors = []
  page.on('pageerror', (e) => errors.push(String(e)))
  page.on('console', (m) => m.type() === 'error' && /Content Security Policy|Trusted/.test(m.text()) && errors.push(m.text()))
  return { page, context, wallet, errors }
}

/** Ends what a test does with requests. A request that it holds at this moment goes on
 * to the service, so what the test would have answered is not an error. */
export const unroute = (page) => page.unrouteAll({ behavior: 'ignoreErrors' })

export class TestWallet {
  requests = [] // {method, params}
  refuse = new Set() // methods that the person declines
  held = null // a promise that signing waits for
  known = new Set()

  constructor(account, chainId = 84532) {
    this.account = account
    this.chainId = chainId
    this.known.add(chainId)
  }

  async install(context, injected = false) {
    await context.exposeBinding('deedWallet', async (_, request) => this.answer(request))
    await context.addInitScript(announce, injected)
  }

  async answer({ method, params }) {
    this.requests.push({ method, params })
    try {
      return { result: await this.handle(method, params ?? []) }
    } catch (e) {
      return { error: { code: e.code ?? -32603, message: e.message } }
    }
  }

  async handle(method, params) {
    if (this.refuse.has(method)) throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
    switch (method) {
      case 'eth_requestAccounts':
        this.connected = true
        return [this.account.address]
      case 'eth_accounts':
        return this.connected ? [this.account.address] : []
      case 'eth_chainId':
        return '0x' + this.chainId.toString(16)
      case 'wallet_switchEthereumChain': {
        const id = Number(params[0].chainId)
        if (!this.known.has(id)) throw Object.assign(new Error('Unrecognized chain ID.'), { code: 4902 })
        this.chainId = id
        return null
      }
      case 'wallet_addEthereumChain':
        this.chainId = Number(params[0].chainId)
        this.known.add(this.chainId)
        return null
      case 'personal_sign':
        await this.held
        return this.account.signMessage({ message: { raw: params[0] } })
      case 'eth_signTypedData_v4':
        await this.held
        return this.signature?.(params[1]) ?? this.account.signTypedData(JSON.parse(params[1]))
    }
    throw Object.assign(new Error('Unsupported method ' + method), { code: 4200 })
  }

  asked(method) {
    return this.requests.filter((r) => r.method === method)
  }

  /** Changes the account, as a person does in the wallet. */
  async switchTo(page, account) {
    this.account = account
    await page.evaluate((address) => window.deedEmit('accountsChanged', [address]), account.address)
  }
}

// Runs in the page before its own scripts.
function announce(injected) {
  const listeners = {}
  const provider = {
    async request(args) {
      const { result, error } = await window.deedWallet(args)
      if (error) throw Object.assign(new Error(error.message), { code: error.code })
      return result
    },
    on: (event, listener) => (listeners[event] ??= []).push(listener),
  }
  if (injected) {
    window.ethereum = provider
    return
  }
  window.deedEmit = (event, value) => listeners[event]?.forEach((l) => l(value))
  const icon = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="5" fill="teal"/></svg>'
  const detail = Object.freeze({ info: { uuid: '350670db-19fa-4704-a166-e52e178b59d2', name: 'Test Wallet', icon, rdns: 'example.wallet' }, provider })
  const tell = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  window.addEventListener('eip6963:requestProvider', tell)
  tell()
}

/** Fails if axe finds a violation. */
export async function axe(page, what) {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze() // no page has frames, and the other mode opens a tab each time
  const found = violations.map((v) => `${v.id}: ${v.help}\n    ${v.nodes.map((n) => n.html.slice(0, 160)).join('\n    ')}`)
  if (found.length) throw new Error(`${what} is not accessible:\n  ${found.join('\n  ')}`)
}

/** Saves a picture of a state, in light and dark, if a folder is given. */
export async function picture(page, name) {
  if (!shots) return
  mkdirSync(shots + '/states', { recursive: true })
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.screenshot({ path: `${shots}/states/${name}-${scheme}.png` })
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null })
}

export const button = (page, name) => page.getByRole('button', { name })
export const heading = (page, name) => page.getByRole('heading', { name })

/** From the page of a name to the wallet's signature. */
export async function pay(page) {
  await heading(page, 'Before you sign').waitFor()
  await button(page, /^Sign and pay/).click()
}

export async function connect(page) {
  await button(page, 'Test Wallet').click()
}

/** Buys a name without a browser: the account pays by x402. */
export async function buyName(account, name, records = []) {
  await fund(account.address)
  const body = { domain: name, dns_records: records }
  const offer = await untilReady(() => api('POST', '/domains/register', body))
  const payment = await signOffer(account, offer.headers)
  return untilReady(() => api('POST', '/domains/register', body, { 'payment-signature': payment })) // charged once
}

/** Repeats a call that a busy service answers with 503. */
async function untilReady(send) {
  for (const end = Date.now() + patience; ; ) {
    const answer = await send()
    if (answer.status !== 503 || Date.now() > end) return answer
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}

async function signOffer(account, headers) {
  const terms = JSON.parse(atob(headers.get('payment-required'))).accepts[0]
  const authorization = {
    from: account.address, to: terms.payTo, value: terms.amount, validAfter: '0', validBefore: String(Math.floor(Date.now() / 1000) + 290), nonce: generatePrivateKey(),
  }
  const fields = [['from', 'address'], ['to', 'address'], ['value', 'uint256'], ['validAfter', 'uint256'], ['validBefore', 'uint256'], ['nonce', 'bytes32']]
  const signature = await account.signTypedData({
    domain: { name: terms.extra.name, version: terms.extra.version, chainId: Number(terms.network.split(':')[1]), verifyingContract: terms.asset },
    types: { TransferWithAuthorization: fields.map(([name, type]) => ({ name, type })) },
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  return btoa(JSON.stringify({ x402Version: 2, accepted: terms, payload: { signature, authorization } }))
}

/** Opens a view that needs a sign-in with a wallet that is not connected yet, and signs in. */
export async function signIn(page, path) {
  await page.goto(base + path)
  await button(page, 'Connect and sign in').click()
  await connect(page)
}

/** Has the service end the session of a page, because its refresh token is used twice. */
export async function endSession(page) {
  const refreshToken = await page.evaluate(() => JSON.parse(sessionStorage.getItem('deed.session')).refresh)
  await api('POST', '/auth/refresh', { refreshToken })
  await api('POST', '/auth/refresh', { refreshToken })
}

export const problem = (page, kind) => page.locator(`[data-problem="${kind}"]`)

/** A page of a name for sale, with a funded wallet. */
export async function atOrder(o = {}) {
  const account = o.account ?? newAccount()
  if (!o.poor && !o.account) await fund(account.address)
  const opened = await openPage({ account, ...o })
  const name = newName()
  await opened.page.goto(`${base}/app/buy/${name}`)
  await button(opened.page, /^Buy for/).waitFor()
  return { ...opened, name, account }
}

/** The same, with what will be signed on the page. */
export async function atReview(o) {
  const opened = await atOrder(o)
  await button(opened.page, /^Buy for/).click()
  await connect(opened.page)
  await heading(opened.page, 'Before you sign').waitFor()
  return opened
}
