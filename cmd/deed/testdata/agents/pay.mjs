// An agent with nothing but a key and an address: it finds a name, is told what
// it costs, pays with a stock x402 client and buys it, then signs in and adds a
// record. Its MCP client holds every result against the schema of its tool.
import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm'
import { privateKeyToAccount } from 'viem/accounts'

const [base, key, domain] = process.argv.slice(2)
const account = privateKeyToAccount(key)
const payer = x402Client.fromConfig({
  schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme(account) }],
  spendControls: { maxAmountPerPayment: '$20' }, // a name costs more than the default of $1
})

const client = new Client({ name: 'agent', version: '1.0.0' })
await client.connect(new StreamableHTTPClientTransport(new URL(base + '/mcp')))
const { tools } = await client.listTools()
assert.ok(tools.length >= 16)

async function use(name, args, payment) {
  return client.callTool({ name, arguments: args, ...(payment && { _meta: { 'x402/payment': payment } }) })
}

async function buy(name, args) {
  const offer = await use(name, args)
  assert.equal(offer.isError, true)
  assert.deepEqual(JSON.parse(offer.content[0].text), offer.structuredContent)
  assert.deepEqual(offer._meta['x402/error'], offer.structuredContent)
  const payment = await payer.createPaymentPayload(offer.structuredContent)
  const done = await use(name, args, payment)
  assert.ok(!done.isError, JSON.stringify(done.content))
  assert.equal(done._meta['x402/payment-response'].success, true)
  const again = await use(name, args, payment)
  assert.deepEqual(again._meta['x402/payment-response'], done._meta['x402/payment-response'])
  return done.structuredContent
}

const found = await use('check_domains', { domains: [domain] })
assert.equal(found.structuredContent.results[0].available, true)
const bought = await buy('register_domain', { domain, max_price_usd: '20' })
assert.equal(bought.walletAddress, account.address.toLowerCase())

const { message } = (await use('sign_in_message', { address: account.address })).structuredContent
const { accessToken } = (await use('sign_in', { message, signature: await account.signMessage({ message }) })).structuredContent
const record = await buy('add_dns_record', { domain, type: 'A', host: 'www', value: '192.0.2.10', access_token: accessToken })
const list = await use('list_dns_records', { domain, access_token: accessToken })
assert.deepEqual(list.structuredContent.records.map((r) => r.id), [record.id])
await client.close()
console.log(`${domain} bought by ${bought.walletAddress} in ${bought.payment.txHash}`)
