// Calls of the API of this origin. Every answer that is not a success becomes an
// ApiError, and a missing answer a LostError.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfter: number,
    readonly body: any,
    readonly headers: Headers,
  ) {
    super(message)
  }
}

/** There was no answer: the connection or the server is gone. */
export class LostError extends Error {}

export interface Options {
  json?: unknown
  text?: string
  token?: string
  payment?: string
  signal?: AbortSignal
}

export interface Answer<T> {
  status: number
  body: T
  headers: Headers
}

/** By how much the server's clock is ahead of ours, in milliseconds. */
let skew = 0
export const serverNow = () => Date.now() + skew

export async function call<T>(method: string, path: string, o: Options = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  let body: string | undefined
  if (o.json !== undefined) {
    headers['Content-Type'] = 'application/json'
    body = JSON.stringify(o.json)
  } else if (o.text !== undefined) {
    headers['Content-Type'] = 'text/dns'
    body = o.text
  }
  if (o.token) headers.Authorization = 'Bearer ' + o.token
  if (o.payment) headers['PAYMENT-SIGNATURE'] = o.payment
  let res: Response
  let raw: string
  try {
    res = await fetch(path, { method, headers, body, signal: o.signal, credentials: 'omit', cache: 'no-store' })
    raw = await res.text()
  } catch (e) {
    if (o.signal?.aborted) throw e
    throw new LostError('The service did not answer.')
  }
  const date = Date.parse(res.headers.get('Date') ?? '')
  if (date) skew = Math.abs(date - Date.now()) > 5000 ? date - Date.now() : 0
  const type = res.headers.get('Content-Type') ?? ''
  const json = type.includes('json')
  if (res.ok && !json && !type.startsWith('text/dns')) throw new LostError('Something between this page and the service answered.') // such as the sign-in of a hotel
  if (res.ok) return { status: res.status, body: (json ? JSON.parse(raw) : raw) as T, headers: res.headers }
  throw failure(res, json ? raw : '')
}

function failure(res: Response, raw: string): ApiError {
  let body: any = {}
  try {
    body = JSON.parse(raw)
  } catch {
    // A proxy may answer with a text of its own.
  }
  const wait = Number(res.headers.get('Retry-After')) || body.retryAfter || 0
  const reset = Number(res.headers.get('X-RateLimit-Reset')) * 1000 - serverNow()
  const seconds = wait || (res.status === 429 && reset > 0 ? Math.ceil(reset / 1000) : 0)
  return new ApiError(res.status, body.code ?? '', body.message ?? 'The service answered ' + res.status + '.', seconds, body, res.headers)
}

/** Whether the outcome of a paid call is unknown, so that it must be repeated as it was. */
export function isLost(e: unknown): boolean {
  if (e instanceof LostError) return true
  return e instanceof ApiError && (e.status === 503 || e.status === 408 || (e.status >= 500 && !e.code))
}
