// An agent with nothing but a key and an address: it finds a name, is told what
// it costs, pays with a stock x402 client and buys it, then signs in, adds a
// record and sees it resolve. Its MCP client holds every result against the
// schema of its tool. What it prints is the transcript in docs/agents.md.
import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
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

const say = (line) => console.log('  ' + line)

async function use(name, args, payment) {
  const { access_token, signature, message, ...shown } = args // what is secret or long is not shown
  console.log(`${name} ${JSON.stringify(shown)}${payment ? ' with a payment' : ''}`)
  return client.callTool({ name, arguments: args, ...(payment && { _meta: { 'x402/payment': payment } }) })
}

async function buy(name, args) {
  const offer = await use(name, args)
  assert.equal(offer.isError, true)
  assert.deepEqual(JSON.parse(offer.content[0].text), offer.structuredContent)
  assert.deepEqual(offer._meta['x402/error'], offer.structuredContent)
  say(offer.content[1].text.split('\n')[0])
  const payment = await payer.createPaymentPayload(offer.structuredContent)
  const done = await use(name, args, payment)
  assert.ok(!done.isError, JSON.stringify(done.content))
  assert.equal(done._meta['x402/payment-response'].success, true)
  say(`paid in ${done._meta['x402/payment-response'].transaction}`)
  const again = await use(name, args, payment)
  say('the same answer, and nothing more was paid')
  assert.deepEqual(again._meta['x402/payment-response'], done._meta['x402/payment-response'])
  return done.structuredContent
}

console.log('tools/list')
say(`${tools.length} tools`)
const found = await use('check_domains', { domains: [domain] })
const [{ available, priceUsd }] = found.structuredContent.results
assert.equal(available, true)
say(`available, ${priceUsd} USDC a year`)
const bought = await buy('register_domain', { domain, max_price_usd: '20' })
assert.equal(bought.walletAddress, account.address.toLowerCase())

const { message } = (await use('sign_in_message', { address: account.address })).structuredContent
say(message.split('\n')[0])
const { accessToken } = (await use('sign_in', { message, signature: await account.signMessage({ message }) })).structuredContent
say('signed in')
const record = await buy('add_dns_record', { domain, type: 'A', host: 'www', value: '192.0.2.10', access_token: accessToken })
const list = await use('list_dns_records', { domain, access_token: accessToken })
assert.deepEqual(list.structuredContent.records.map((r) => r.id), [record.id])
for (const r of list.structuredContent.records) say(`${r.type} ${r.host} ${r.value}`)
await client.close()

const { dns } = await (await fetch(base + '/sandbox')).json()
const resolver = new Resolver()
resolver.setServers([dns])
console.log(`dig www.${domain} A`)
for (;;) { // the name servers learn of a change a moment later; the test's own time is the limit
  const addresses = await resolver.resolve4('www.' + domain).catch(() => [])
  if (addresses.length > 0) {
    say(addresses.join(' '))
    break
  }
  await new Promise((resume) => setTimeout(resume, 50))
}
console.log(`${domain} bought by ${bought.walletAddress} in ${bought.payment.txHash}`)
