import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch'
import { base, check, key, order } from '../payers/purchase.mjs'

const pay = wrapFetchWithPayment(fetch, await createSigner('base-sepolia', key), 20_000_000n) // the default cap is 0.10 USDC
const res = await pay(base + '/domains/register', order)
await check(res.status, await res.json(), decodeXPaymentResponse(res.headers.get('X-PAYMENT-RESPONSE')))
