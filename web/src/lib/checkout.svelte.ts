// One payment, from the price to the answer:
//
//   idle ─► asking ─► review ─► signing ─► sending ─► done
//
// asking connects the wallet, selects the chain, checks the balance and asks the
// service for its offer. review shows what will be signed. From sending on the
// payment is in the journal, and is repeated until the service has answered.
import { ApiError, call as callApi, isLost, serverNow, type Answer } from './api'
import { config } from './config'
import { micros, money } from './format'
import { journal, type Entry } from './journal'
import { authorize, paymentHeader, readOffer, typedData, type Authorization, type Offer } from './payment'
import { describe, Told, type Problem } from './problem'
import { session } from './session.svelte'
import { balance, isRefusal, useChain, type Provider } from './wallet'

export interface Purchase {
  key: string // what it is for; one payment at a time
  title: string
  method: string
  path: string
  json?: unknown
  text?: string
  auth: boolean
  price: string // that the page has shown
}

export class Checkout {
  step = $state<'idle' | 'asking' | 'review' | 'signing' | 'sending' | 'done'>('idle')
  problem = $state.raw<Problem | null>(null)
  offer = $state.raw<Offer | null>(null)
  authorization = $state.raw<Authorization | null>(null)
  typed = $state('')
  retrying = $state('') // why a sent payment is sent again
  balance = $state.raw<bigint | null>(null)
  purchase = $state.raw<Purchase | null>(null)
  paying = $derived(this.step === 'signing' || this.step === 'sending') // what is bought cannot be changed any more
  private payer = ''

  constructor(
    private done: (a: Answer<any>) => void,
    private explain: (e: unknown) => Problem = describe,
  ) {}

  cancel(): void {
    this.step = 'idle'
    this.problem = null
    this.offer = null
  }

  /** Asks for the offer and shows it. A payment that was sent for the same is repeated instead. */
  async start(p: Purchase): Promise<void> {
    if (await this.resume(p.key)) return
    this.purchase = p
    this.problem = null
    this.step = 'asking'
    const ended = () => this.step !== 'asking' || this.purchase !== p // cancelled, while the wallet was asked
    try {
      if (!(await session.connect())) return this.cancel()
      await this.prepareWallet(p.price)
      const offer = await this.ask(p)
      if (!offer || ended()) return
      this.show(offer)
      if (micros(offer.price) !== micros(p.price)) {
        this.problem = { kind: 'price', title: 'The price has changed', text: `It was ${money(p.price)} and is now ${money(offer.price)}. Nothing was paid.` }
      }
    } catch (e) {
      if (!ended()) this.fail(e)
    }
  }

  private async prepareWallet(price: string): Promise<void> {
    const { wallet, address } = session
    if (!wallet) throw new Error('No wallet is connected.')
    await selectChain(wallet.provider)
    this.balance = await balance(wallet.provider, address)
    if (this.balance !== null && this.balance < micros(price)) {
      throw new Told({ kind: 'poor', title: 'Not enough USDC', text: `This costs ${money(price)}, and your wallet holds ${money(this.balance)} on ${config.chainName}.` })
    }
  }

  /** Sends the call without a payment, which is answered 402 with an offer. */
  private async ask(p: Purchase): Promise<Offer | null> {
    try {
      const answer = await this.send(p)
      this.finish(answer) // it was free after all
      return null
    } catch (e) {
      if (e instanceof ApiError && e.code === 'PAYMENT_REQUIRED') return readOffer(e.headers.get('PAYMENT-REQUIRED'))
      throw e
    }
  }

  private show(offer: Offer): void {
    this.payer = session.address
    this.offer = offer
    this.authorization = authorize(offer, session.address)
    this.typed = typedData(this.authorization)
    this.step = 'review'
  }

  /** Has the wallet sign what is shown, and pays. */
  async sign(): Promise<void> {
    const { offer, authorization, purchase } = this
    if (!offer || !authorization || !purchase || !session.wallet) return
    this.problem = null
    if (session.address !== this.payer) return this.switched()
    if (this.isLate(offer, authorization)) return
    this.step = 'signing'
    try {
      await selectChain(session.wallet.provider) // it may have been changed since
      const signature: string = await session.wallet.provider.request({ method: 'eth_signTypedData_v4', params: [authorization.from, this.typed] })
      if (this.isLate(offer, authorization)) return
      const entry: Entry = { ...purchase, payment: paymentHeader(offer, authorization, signature), price: offer.price, payer: this.payer }
      journal.write(entry)
      await this.deliver(entry)
    } catch (e) {
      this.fail(e, 'review')
    }
  }

  /** Whether the service would refuse a payment because it expires too soon. The offer is shown again then, with a new limit. */
  private isLate(offer: Offer, authorization: Authorization): boolean {
    if (Number(authorization.validBefore) * 1000 >= serverNow() + 30_000) return false
    if (session.address !== this.payer) return (this.switched(), true)
    this.show(offer)
    this.problem = { kind: 'stale', title: 'Please check again', text: 'The time limit of the payment has passed, or was about to. Nothing was paid, and the limit is renewed.' }
    return true
  }

  /** A payment is prepared for one account. When the wallet changes it, or is locked, start over. */
  switched(): void {
    this.cancel()
    this.problem = session.address
      ? { kind: 'switched', title: 'You changed the account', text: 'The payment was prepared for the other account. Nothing was signed: start again to pay with this one.' }
      : { kind: 'switched', title: 'Your wallet is disconnected', text: 'It may be locked. Nothing was signed: unlock it, then start again.' }
  }

  /** Repeats a payment that was sent, and whose outcome is not known yet. */
  async resume(key: string): Promise<boolean> {
    const entry = journal.read(key)
    if (!entry) return false
    this.purchase = entry
    try {
      await this.deliver(entry)
    } catch (e) {
      this.fail(e)
    }
    return true
  }

  private async deliver(entry: Entry): Promise<void> {
    this.step = 'sending'
    this.problem = null
    for (let wait = 0; ; ) {
      try {
        const answer = await this.send(entry, entry.payment)
        journal.remove(entry.key)
        this.retrying = ''
        return this.finish(answer)
      } catch (e) {
        if (!isLost(e)) {
          // Only an answer to the payment ends it. That of a proxy, a limit and the end of the session are none, and
          // the service may have an earlier attempt.
          const answered = e instanceof ApiError && e.code && e.status !== 401 && e.status !== 429
          if (answered) journal.remove(entry.key)
          this.retrying = ''
          throw e
        }
        wait = this.nextWait(wait, e)
        await new Promise((resolve) => {
          setTimeout(resolve, wait)
          addEventListener('online', resolve, { once: true })
        })
      }
    }
  }

  /** How long to wait before a payment is sent again. An answer without a receipt counts against a limit of few orders a day. */
  private nextWait(last: number, e: unknown): number {
    const refused = e instanceof ApiError && e.code && !e.headers.has('PAYMENT-RESPONSE')
    this.retrying = refused ? 'The service cannot take it at the moment.' : 'The connection was lost.'
    return refused ? Math.min(Math.max(2 * last, 2000, e.retryAfter * 1000), 60_000) : Math.min(Math.max(2 * last, 500), 8000)
  }

  private send(p: Purchase, payment?: string): Promise<Answer<any>> {
    const o = { json: p.json, text: p.text, payment }
    return p.auth ? session.call(p.method, p.path, o) : callApi(p.method, p.path, o)
  }

  private finish(answer: Answer<any>): void {
    this.step = 'done'
    this.done(answer)
  }

  private fail(e: any, back: 'idle' | 'review' = 'idle'): void {
    this.problem = this.explain(e)
    if (e instanceof ApiError && e.body.jobId && e.code === 'REGISTRATION_FAILED') return this.finish({ status: e.status, body: e.body, headers: e.headers })
    this.step = isRefusal(e) ? back : 'idle'
  }
}

/** Has the wallet use the chain of the payments, or says which one to select. */
export async function selectChain(provider: Provider): Promise<void> {
  try {
    await useChain(provider)
  } catch (e: any) {
    const text = isRefusal(e) ? 'You declined to change the network.' : 'The wallet could not change the network.'
    throw new Told({ kind: 'chain', title: 'Wrong network', text: `${text} Select ${config.chainName} in your wallet, then try again.` })
  }
}
