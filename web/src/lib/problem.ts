// What can go wrong, in words for people, with the next step.
import { ApiError, LostError } from './api'
import { config } from './config'
import { money, sentence } from './format'
import { ForeignSite, SignedOut } from './session.svelte'
import { isRefusal } from './wallet'

export type Kind =
  | 'refused'
  | 'chain'
  | 'switched'
  | 'account'
  | 'poor'
  | 'price'
  | 'taken'
  | 'limited'
  | 'failed'
  | 'lost'
  | 'signedout'
  | 'foreign'
  | 'undeployed'
  | 'stale'
  | 'other'

export interface Problem {
  kind: Kind
  title: string
  text: string
  until?: number // when to try again, in ms
  link?: string
}

/** An error that is already in words. */
export class Told extends Error {
  constructor(readonly problem: Problem) {
    super(problem.text)
  }
}

export function describe(e: any): Problem {
  if (e instanceof Told) return e.problem
  if (e instanceof SignedOut) return { kind: 'signedout', title: 'Please sign in again', text: 'Your session has ended.' }
  if (e instanceof ForeignSite) return { kind: 'foreign', title: 'Open the page at its own address', text: e.message, link: new URL(location.pathname + location.search, e.uri).href }
  if (e instanceof LostError || (e instanceof ApiError && e.status >= 500 && !e.code)) return { kind: 'lost', title: 'No connection to the service', text: 'Check your connection. The service may also be restarting.' }
  if (isRefusal(e)) return { kind: 'refused', title: 'You declined in your wallet', text: 'Nothing was signed and nothing was paid.' }
  if (e?.code === -32002) return { kind: 'stale', title: 'Your wallet waits for you', text: 'It is locked, or has another request open. Open it and answer, then try again.' }
  if (!(e instanceof ApiError)) return { kind: 'other', title: 'That did not work', text: e?.message || 'Something unexpected happened.' }
  return fromAnswer(e)
}

function fromAnswer(e: ApiError): Problem {
  switch (e.code) {
    case 'RATE_LIMITED':
      return { kind: 'limited', title: 'Too many requests', text: 'The service limits how often it can be called.', until: Date.now() + Math.max(1, e.retryAfter) * 1000 }
    case 'DOMAIN_UNAVAILABLE':
      return { kind: 'taken', title: 'Taken in the meantime', text: 'Somebody else has registered this name. You have not paid anything.' }
    case 'PAYMENT_INVALID':
      if (!e.message.includes('deploy the wallet first')) break
      return { kind: 'undeployed', title: 'Your wallet is not on the chain yet', text: `The service does not deploy wallets of this kind. Send any transaction on ${config.chainName} from your wallet first, then try again. Nothing was paid.` }
    case 'PAYMENT_INSUFFICIENT':
      return { kind: 'poor', title: 'Not enough USDC', text: 'Your wallet does not hold enough USDC for this payment. Nothing was paid.' }
    case 'REGISTRATION_FAILED':
    case 'DNS_ERROR':
      return { kind: 'failed', title: 'It could not be done', text: refundText(e) }
    case 'AUTH_REQUIRED':
    case 'TOKEN_EXPIRED':
    case 'TOKEN_INVALID':
      return { kind: 'signedout', title: 'Please sign in again', text: 'Your session has ended.' }
    case 'DOMAIN_TOO_EXPENSIVE':
      return { kind: 'other', title: 'Above the limit of one order', text: 'This name costs more than the service sells in one order.' }
    case 'SERVICE_UNAVAILABLE':
      return { kind: 'lost', title: 'The service cannot do this at the moment', text: sentence(e.message), until: e.retryAfter ? Date.now() + e.retryAfter * 1000 : undefined }
  }
  return { kind: 'other', title: 'That did not work', text: sentence(e.message.replace(/^\w+\[\d+\]: /, '')) } // one of a list means nothing here
}

function refundText(e: ApiError): string {
  const refund = e.body.refund
  return refund ? `${sentence(e.message)} Your ${money(refund.amount_usd)} are on the way back to the wallet that paid.` : sentence(e.message)
}
