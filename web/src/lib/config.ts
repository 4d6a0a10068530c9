// What the server says about itself in the page.
export interface Config {
  chainId: number
  chainName: string
  usdc: string
  tokenName: string
  tokenVersion: string
  payments: boolean
  forwarding: boolean // FORWARD records are accepted
  email: boolean // notices are sent by e-mail
  rpcUrl?: string
  sandbox: boolean
  version: string
}

function meta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''
}

export const config: Config = JSON.parse(meta('deed-config') || '{}')

/** The results that the server has already put into the page, once. */
export function takeFound(): { query: string; results: import('./types').Found[] } | null {
  const text = meta('deed-found')
  document.querySelector('meta[name="deed-found"]')?.remove()
  return text ? JSON.parse(text) : null
}
