// A contract wallet that is not deployed yet pays with viem's wrapper (ERC-6492); the
// payment deploys it. Its next signature needs no wrapper.
import assert from 'node:assert/strict'
import { ExactEvmScheme } from '@x402/evm'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { createPublicClient, encodeFunctionData, http, parseAbi, serializeErc6492Signature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base, check, domain, key, order } from './purchase.mjs'

const { rpcUrl } = await (await fetch(base + '/sandbox')).json()
const chain = createPublicClient({ transport: http(rpcUrl) })
const owner = privateKeyToAccount(key)
const factory = '0xdeedfac70000000000000000000000000000fac7'
const abi = parseAbi(['function createWallet(address owner, bytes32 salt)', 'function walletOf(address owner, bytes32 salt) view returns (address)'])
const args = [owner.address, '0x' + '07'.repeat(32)]
const address = await chain.readContract({ address: factory, abi, functionName: 'walletOf', args })
const deployment = { address: factory, data: encodeFunctionData({ abi, functionName: 'createWallet', args }) }

const funded = await fetch(base + '/sandbox/faucet', {
  method: 'POST', headers: order.headers, body: JSON.stringify({ walletAddress: address }),
})
assert.equal(funded.status, 200)

const payer = (signTypedData) => wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme({ address, signTypedData }) }],
  spendControls: { maxAmountPerPayment: '$20' },
})
const wrapped = async (data) => serializeErc6492Signature({ ...deployment, signature: await owner.signTypedData(data) })

assert.equal(await chain.getCode({ address }), undefined)
const first = await payer(wrapped)(base + '/domains/register', order)
const bought = await first.json()
await check(first.status, bought, decodePaymentResponseHeader(first.headers.get('PAYMENT-RESPONSE')))
assert.equal(bought.walletAddress, address.toLowerCase())
assert.notEqual(await chain.getCode({ address }), undefined)

const renewal = { ...order, body: JSON.stringify({ domain }) }
const second = await payer((data) => owner.signTypedData(data))(base + '/domains/renew', renewal)
assert.equal(second.status, 200, JSON.stringify(await second.json()))
