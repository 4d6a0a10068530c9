// Renewals that the owner signs in advance: one authorization (EIP-3009) for each. What
// the service proposes is checked before it is shown.
import { config } from './config'
import { checksum, micros } from './format'
import { newNonce, typedData, type Authorization } from './payment'

interface Token {
  name: string
  version: string
  chainId: number
  verifyingContract: string
}

export interface Mandate {
  id: string
  status: 'active' | 'paying' | 'used' | 'failed' | 'unneeded' | 'revoked'
  expiresAt: string
  cap_usd: string
  nonce: string
  reason?: string
  cancel?: { token: Token; authorizer: string; nonce: string; until: string } // what can be done on the chain
}

export interface Plan {
  price_usd: string // of a year, today
  cap_usd: string
  token: Token
  renewals: { expiresAt: string; signed: boolean; authorization: Omit<Authorization, 'nonce'> }[]
}

/** One renewal that can be signed. */
export interface Draft {
  expiresAt: string
  authorization: Authorization
  typed: string // exactly what the wallet is asked to sign
  signature: string // "" until it is signed
}

const day = 86_400

/** Returns what is to be signed for the renewals that are not signed yet, and refuses what is not safe to sign. */
export function drafts(p: Plan, owner: string): Draft[] {
  const t = p.token
  const foreign = t.name !== config.tokenName || t.version !== config.tokenVersion || t.chainId !== config.chainId || t.verifyingContract.toLowerCase() !== config.usdc.toLowerCase()
  const open = p.renewals.filter((r) => !r.signed)
  if (foreign || open.some((r) => !isSafe(r.authorization, r.expiresAt, micros(p.cap_usd), owner))) throw new Error('The service asks for something that is not safe to sign.')
  return open.map(({ expiresAt, authorization: a }) => {
    const authorization = { from: checksum(a.from), to: checksum(a.to), value: a.value, validAfter: a.validAfter, validBefore: a.validBefore, nonce: newNonce() }
    return { expiresAt, authorization, typed: typedData(authorization), signature: '' }
  })
}

/** An authorization moves the shown amount of the owner, and only around the expiry. */
function isSafe(a: Omit<Authorization, 'nonce'>, expiresAt: string, cap: bigint, owner: string): boolean {
  const [from, to, expiry] = [Number(a.validAfter), Number(a.validBefore), Date.parse(expiresAt) / 1000]
  return (
    BigInt(a.value) === cap && a.from.toLowerCase() === owner.toLowerCase() && /^0x[0-9a-fA-F]{40}$/.test(a.to) &&
    from >= expiry - 31 * day && from < to && to <= expiry + 100 * day
  )
}
