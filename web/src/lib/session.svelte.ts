// Who uses the page: the connected wallet, and the wallet that is signed in.
import { ApiError, call, serverNow, type Answer, type Options } from './api'
import { checksum } from './format'
import { askPeers, dropTokens, keepTokens, onTokens, renew, tokens } from './tokens'
import { discover, type Wallet } from './wallet'

const rememberKey = 'deed.wallet'

class Session {
  wallets = $state.raw<Wallet[]>([])
  wallet = $state.raw<Wallet | null>(null)
  address = $state('') // of the connected wallet, in lower case
  signedIn = $state(tokens()?.wallet ?? '')
  expired = $state(false) // the session ended by itself
  choosing = $state(false) // the list of wallets is open
  private chosen: ((ok: boolean) => void) | null = null

  constructor() {
    onTokens((t) => {
      this.signedIn = t?.wallet ?? ''
      if (t) this.expired = false
    })
    discover((w) => {
      this.wallets = [...this.wallets, w]
      if (!this.wallet && sessionStorage.getItem(rememberKey) === w.info.rdns) void this.use(w, 'eth_accounts')
    })
    if (!this.signedIn) void askPeers()
  }

  /** Lets the person choose a wallet, unless one is connected. False when they close the list. */
  connect(): Promise<boolean> {
    if (this.address) return Promise.resolve(true)
    const opener = document.activeElement as HTMLElement | null
    this.choosing = true
    return new Promise((resolve) => {
      this.chosen = (ok) => {
        resolve(ok)
        if (!ok) setTimeout(() => opener?.focus()) // the caller has disabled it, and enables it again first
      }
    })
  }

  closeList(): void {
    this.choosing = false
    this.chosen?.(this.address !== '')
    this.chosen = null
  }

  /** Connects a wallet. It throws what the wallet throws. */
  async use(w: Wallet, method = 'eth_requestAccounts'): Promise<void> {
    const accounts: string[] = await w.provider.request({ method })
    if (!accounts[0]) return
    if (this.wallet !== w) {
      w.provider.on?.('accountsChanged', (list: string[]) => {
        if (this.wallet === w) this.address = list[0]?.toLowerCase() ?? ''
      })
      w.provider.on?.('disconnect', () => {
        if (this.wallet === w) this.address = ''
      })
    }
    this.wallet = w
    this.address = accounts[0].toLowerCase()
    sessionStorage.setItem(rememberKey, w.info.rdns)
    if (this.choosing) this.closeList()
  }

  disconnect(): void {
    sessionStorage.removeItem(rememberKey)
    this.wallet = null
    this.address = ''
    this.signOut()
  }

  signOut(): void {
    this.expired = false
    dropTokens()
  }

  /** Has the connected wallet sign a sign-in message (EIP-4361). It throws what the wallet or the service throws. */
  async signMessage(): Promise<{ message: string; signature: string }> {
    if (!this.wallet) throw new Error('No wallet is connected.')
    const { body: n } = await call<any>('GET', '/auth/nonce')
    if (n.domain !== location.host) throw new ForeignSite(n.uri)
    const address = checksum(this.address)
    const message = `${n.domain} wants you to sign in with your Ethereum account:\n${address}\n\n${statement}\n\nURI: ${n.uri}\nVersion: ${n.version}\nChain ID: ${n.chainId}\nNonce: ${n.nonce}\nIssued At: ${new Date(serverNow()).toISOString()}`
    const hex = '0x' + [...new TextEncoder().encode(message)].map((b) => b.toString(16).padStart(2, '0')).join('')
    return { message, signature: await this.wallet.provider.request({ method: 'personal_sign', params: [hex, address] }) }
  }

  /** Signs in with the connected wallet. It throws what the wallet or the service throws. */
  async signIn(): Promise<void> {
    const { message, signature } = await this.signMessage()
    const { body } = await call<any>('POST', '/auth/verify', { json: { message, signature } })
    keepTokens({ wallet: body.walletAddress, access: body.accessToken, refresh: body.refreshToken })
  }

  /** A call with the token of the session, which is renewed once when it has expired. */
  async call<T>(method: string, path: string, o: Options = {}): Promise<Answer<T>> {
    let token = tokens()?.access || (await this.fresh(''))
    try {
      return await call<T>(method, path, { ...o, token })
    } catch (e) {
      if (!(e instanceof ApiError) || e.status !== 401) throw e
      token = await this.fresh(token)
      return call<T>(method, path, { ...o, token })
    }
  }

  private async fresh(old: string): Promise<string> {
    const token = await renew(old)
    if (token) return token
    this.expired = true
    throw new SignedOut()
  }
}

export const statement = 'Sign in to manage your domain names. This costs nothing and moves no money.'

/** The session is over: sign in again. */
export class SignedOut extends Error {}

/** The page was opened at an address that the service does not sign in for. */
export class ForeignSite extends Error {
  constructor(readonly uri: string) {
    super('This page signs in at ' + uri + ' only.')
  }
}

export const session = new Session()
