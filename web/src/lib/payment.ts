// Payments by x402 version 2, scheme exact: an authorization of EIP-3009 that the
// wallet signs as typed data. An offer is checked before it is shown.
import { config } from './config'
import { serverNow } from './api'
import { checksum, decimal } from './format'

interface Terms {
  scheme: string
  network: string
  amount: string
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  extra: { name: string; version: string }
}

export interface Offer {
  price: string // decimal USDC
  what: string // description by the server
  terms: Terms
}

/** Reads the header of a 402, and refuses what is not safe to sign. */
export function readOffer(header: string | null): Offer {
  if (!header) throw new Error('The service made no offer.')
  const in_ = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (c) => c.charCodeAt(0))))
  const terms = (in_.accepts as Terms[]).find((t) => t.scheme === 'exact' && t.network === 'eip155:' + config.chainId)
  if (!terms) throw new Error('The service offers no way to pay on ' + config.chainName + '.')
  const bad =
    terms.asset.toLowerCase() !== config.usdc.toLowerCase() ||
    terms.extra.name !== config.tokenName ||
    terms.extra.version !== config.tokenVersion ||
    !/^[1-9][0-9]{0,15}$/.test(terms.amount) ||
    !/^0x[0-9a-fA-F]{40}$/.test(terms.payTo) ||
    !(terms.maxTimeoutSeconds >= 30 && terms.maxTimeoutSeconds <= 3600)
  if (bad) throw new Error('The service made an offer that is not safe to sign.')
  return { price: decimal(BigInt(terms.amount)), what: in_.resource?.description ?? '', terms }
}

export interface Authorization {
  from: string
  to: string
  value: string
  validAfter: string
  validBefore: string
  nonce: string
}

/** A nonce that nobody has used. */
export const newNonce = () => '0x' + [...crypto.getRandomValues(new Uint8Array(32))].map((b) => b.toString(16).padStart(2, '0')).join('')

export function authorize(offer: Offer, from: string): Authorization {
  return {
    from: checksum(from),
    to: checksum(offer.terms.payTo),
    value: offer.terms.amount,
    validAfter: '0',
    validBefore: String(Math.floor(serverNow() / 1000) + offer.terms.maxTimeoutSeconds),
    nonce: newNonce(),
  }
}

/** The typed data exactly as the wallet gets it (EIP-712). */
export function typedData(message: Authorization): string {
  const data = {
    domain: { name: config.tokenName, version: config.tokenVersion, chainId: config.chainId, verifyingContract: checksum(config.usdc) },
    primaryType: 'TransferWithAuthorization',
    types: {
      EIP712Domain: [
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    message,
  }
  return JSON.stringify(data, null, 2)
}

/** The value of PAYMENT-SIGNATURE. */
export function paymentHeader(offer: Offer, authorization: Authorization, signature: string): string {
  const text = JSON.stringify({ x402Version: 2, accepted: offer.terms, payload: { signature, authorization } })
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
