// Wallets in the browser: discovery (EIP-6963 and older injected ones) and the
// requests that the page makes of them (EIP-1193).
import { config } from './config'

export interface Provider {
  request(args: { method: string; params?: unknown[] }): Promise<any>
  on?(event: string, listener: (value: any) => void): void
}

export interface Wallet {
  info: { uuid: string; name: string; icon: string; rdns: string }
  provider: Provider
}

/** Calls found for every wallet that announces itself, now or later. */
export function discover(found: (w: Wallet) => void): void {
  const seen = new Set<unknown>() // providers and ids: some announce themselves again with another of one
  const add = (w: Wallet) => {
    if (!w?.provider || seen.has(w.provider) || seen.has(w.info.uuid)) return
    seen.add(w.provider).add(w.info.uuid)
    found(w)
  }
  window.addEventListener('eip6963:announceProvider', (e) => add((e as CustomEvent<Wallet>).detail))
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  const injected = () => {
    const old = (window as any).ethereum as Provider | undefined
    // A wallet that announces itself is often injected too, under another object.
    if (old && seen.size === 0) add({ info: { uuid: 'injected', name: 'Browser wallet', icon: '', rdns: 'injected' }, provider: old })
  }
  injected()
  window.addEventListener('ethereum#initialized', injected, { once: true })
}

/** Only images inside the announcement are shown: others would be requests to third parties. */
export const safeIcon = (icon: string) => (/^data:image\/(png|svg\+xml|webp|jpeg|gif)[;,]/.test(icon) ? icon : '')

export const isRefusal = (e: any) => e?.code === 4001 || e?.code === 'ACTION_REJECTED'

export const hexChain = '0x' + (config.chainId ?? 0).toString(16)

/** Makes the wallet use our chain. It throws what the wallet throws. */
export async function useChain(p: Provider): Promise<void> {
  const current = await p.request({ method: 'eth_chainId' })
  if (BigInt(current) === BigInt(config.chainId)) return
  try {
    await p.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: hexChain }] })
  } catch (e: any) {
    const unknown = e?.code === 4902 || e?.data?.originalError?.code === 4902
    if (!unknown || !config.rpcUrl) throw e
    await p.request({
      method: 'wallet_addEthereumChain',
      params: [{ chainId: hexChain, chainName: config.chainName, rpcUrls: [config.rpcUrl], nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 } }],
    })
  }
  if (BigInt(await p.request({ method: 'eth_chainId' })) !== BigInt(config.chainId)) throw new Error('The wallet stays on another network.')
}

/** The USDC of an address in millionths; null when nobody knows. */
export async function balance(p: Provider, address: string): Promise<bigint | null> {
  const params = [{ to: config.usdc, data: '0x70a08231' + address.slice(2).toLowerCase().padStart(64, '0') }, 'latest']
  try {
    if (!config.rpcUrl) return BigInt(await p.request({ method: 'eth_call', params }))
    const res = await fetch(config.rpcUrl, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params }),
    })
    return BigInt((await res.json()).result)
  } catch {
    return null // the server looks again before it takes the payment
  }
}

/** Addresses that open this page inside the browser of a wallet on a phone. */
export function phoneLinks(url: string): { name: string; href: string }[] {
  const bare = url.replace(/^https?:\/\//, '')
  const whole = encodeURIComponent(url)
  return [
    { name: 'MetaMask', href: 'https://link.metamask.io/dapp/' + bare },
    { name: 'Coinbase Wallet', href: 'https://go.cb-w.com/dapp?cb_url=' + whole },
    { name: 'Trust Wallet', href: 'https://link.trustwallet.com/open_url?coin_id=60&url=' + whole },
    { name: 'Phantom', href: 'https://phantom.app/ul/browse/' + whole + '?ref=' + whole },
  ]
}
