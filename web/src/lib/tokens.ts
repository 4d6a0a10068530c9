// The tokens of the session. The access token is in memory, the refresh token in
// sessionStorage, which the browser copies when a tab is duplicated. The service
// ends a session whose refresh token is used twice. So tabs refresh one at a time
// (Web Locks), mark the token as used for all tabs before they use it, and tell the
// other tabs the new one (BroadcastChannel).
import { ApiError, call } from './api'
import { fingerprint } from './format'

export interface Tokens {
  wallet: string
  access: string // "" until it is refreshed
  refresh: string
}

const key = 'deed.session'
const usedKey = 'deed.used'
const peers = 'BroadcastChannel' in window ? new BroadcastChannel('deed') : null

let current: Tokens | null = read()
const listeners: ((t: Tokens | null) => void)[] = []

function read(): Tokens | null {
  try {
    const t = JSON.parse(sessionStorage.getItem(key) ?? 'null')
    return t ? { wallet: t.wallet, access: '', refresh: t.refresh } : null
  } catch {
    return null
  }
}

function set(t: Tokens | null, tell = true): void {
  current = t
  if (t) sessionStorage.setItem(key, JSON.stringify({ wallet: t.wallet, refresh: t.refresh }))
  else sessionStorage.removeItem(key)
  if (tell) peers?.postMessage(t ? { tokens: t } : { ended: true })
  for (const l of listeners) l(t)
}

const used = (): string[] => JSON.parse(localStorage.getItem(usedKey) ?? '[]')
const isUsed = (refresh: string) => used().includes(fingerprint(refresh))

peers?.addEventListener('message', ({ data }) => {
  // A tab that slept may still hold a used token: it neither gives nor overwrites one.
  if (data.ask && current && !isUsed(current.refresh)) peers.postMessage({ tokens: current })
  // Another wallet of another tab does not concern us once we are signed in.
  if (data.tokens && !isUsed(data.tokens.refresh) && (!current || current.wallet === data.tokens.wallet)) {
    const same = current?.refresh === data.tokens.refresh
    if (!same || data.tokens.access) set(data.tokens, false)
  }
  if (data.ended) set(null, false)
})

/** Asks the other tabs for unused tokens, and resolves when one answers or none does. */
export function askPeers(patience = 1000): Promise<boolean> {
  if (!peers) return Promise.resolve(false)
  return new Promise((resolve) => {
    const heard = ({ data }: MessageEvent) => {
      if (data.tokens && !isUsed(data.tokens.refresh)) finish(true)
    }
    const timer = setTimeout(() => finish(false), patience)
    const finish = (ok: boolean) => {
      clearTimeout(timer)
      peers.removeEventListener('message', heard)
      resolve(ok)
    }
    peers.addEventListener('message', heard)
    peers.postMessage({ ask: true })
  })
}

export const onTokens = (l: (t: Tokens | null) => void) => void listeners.push(l)
export const tokens = () => current
export const keepTokens = (t: Tokens) => set(t)
export const dropTokens = () => set(null)

/** Gives an access token that is not the given one, or "" when the session is over. */
export function renew(old: string): Promise<string> {
  const run = () => renewAlone(old)
  return navigator.locks ? (navigator.locks.request('deed-refresh', run) as Promise<any>) : run()
}

async function renewAlone(old: string): Promise<string> {
  if (!current) return ''
  if (current.access && current.access !== old) return current.access
  const { refresh, wallet } = current
  if (isUsed(refresh)) {
    if ((await askPeers(5000)) && tokens()?.refresh !== refresh) return renewAlone(old)
    set(null, false)
    return ''
  }
  localStorage.setItem(usedKey, JSON.stringify([fingerprint(refresh), ...used()].slice(0, 50)))
  try {
    const { body } = await call<{ accessToken: string; refreshToken: string }>('POST', '/auth/refresh', { json: { refreshToken: refresh } })
    set({ wallet, access: body.accessToken, refresh: body.refreshToken })
    return body.accessToken
  } catch (e) {
    if (e instanceof ApiError && e.status === 401) {
      set(null)
      return ''
    }
    // The service has not used the token. If only its answer was lost, the session is over,
    // and says so the next time.
    localStorage.setItem(usedKey, JSON.stringify(used().filter((f) => f !== fingerprint(refresh))))
    throw e
  }
}
