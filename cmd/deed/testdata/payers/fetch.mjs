import { ExactEvmScheme } from '@x402/evm'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'
import { base, check, key, order } from './purchase.mjs'

const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme(privateKeyToAccount(key)) }],
  spendControls: { maxAmountPerPayment: '$20' }, // a name costs more than the default of $1
})
const res = await pay(base + '/domains/register', order)
await check(res.status, await res.json(), decodePaymentResponseHeader(res.headers.get('PAYMENT-RESPONSE')))
