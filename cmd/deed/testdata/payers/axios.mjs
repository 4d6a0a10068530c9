import axios from 'axios'
import { x402Client, wrapAxiosWithPayment, decodePaymentResponseHeader } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm'
import { privateKeyToAccount } from 'viem/accounts'
import { base, check, key, order } from './purchase.mjs'

const client = new x402Client().register('eip155:84532', new ExactEvmScheme(privateKeyToAccount(key)))
const http = wrapAxiosWithPayment(axios.create({ baseURL: base }), client)
const res = await http.post('/domains/register', order.body, { headers: order.headers })
await check(res.status, res.data, decodePaymentResponseHeader(res.headers['payment-response']))
