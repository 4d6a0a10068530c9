// An agent with nothing but a key and an address, with the SDK of A2A for
// JavaScript: it finds the service by its card, checks who signed that, looks for
// a name, is told what it costs, pays and follows the order to its end, then signs
// in, adds a record and sees it resolve. What it prints is the transcript in
// docs/agents.md.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { AgentCard, TaskState, taskStateToJSON, verifyAgentCardSignature } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { privateKeyToAccount } from 'viem/accounts'

const [base, key, domain] = process.argv.slice(2)
const wallet = privateKeyToAccount(key)
const say = (line) => console.log('  ' + line)

console.log('GET /.well-known/agent-card.json')
const client = await new ClientFactory().createFromUrl(base)
const card = await client.getAgentCard()
const [way] = card.supportedInterfaces
say(`${card.name}, ${card.skills.length} skills, ${way.protocolBinding} of A2A ${way.protocolVersion} at ${way.url}`)

console.log('GET /.well-known/jwks.json')
const verify = verifyAgentCardSignature(async (kid, jku) => {
  assert.equal(jku, `${base}/.well-known/jwks.json`)
  return (await (await fetch(jku)).json()).keys.find((k) => k.kid === kid)
})
const sent = AgentCard.toJSON(card) // as it came: see docs/agents.md
assert.deepEqual(sent.securitySchemes, (await (await fetch(`${base}/.well-known/agent-card.json`)).json()).securitySchemes)
await verify(sent)
console.debug = () => {} // the SDK tells of every signature that is not good
await assert.rejects(verify({ ...sent, description: 'another' }))
await assert.rejects(client.getAgentCard({}, verify), 'the SDK has mended what docs/agents.md says of it')
say('the card is signed with this key')

let count = 0
const message = (content, more = {}) => ({
  message: {
    messageId: `m${++count}`, role: 1, contextId: '', taskId: '', extensions: [], referenceTaskIds: [], metadata: undefined,
    parts: [{ content, metadata: undefined, filename: '', mediaType: '' }], ...more,
  },
  configuration: undefined, metadata: undefined, tenant: '',
})
const text = (value) => ({ $case: 'text', value })
const data = (skill, args) => ({ $case: 'data', value: { skill, arguments: args } })
const dataOf = (parts) => parts.find((p) => p.content.$case === 'data').content.value
const state = (task) => taskStateToJSON(task.status.state)

function show(skill, { access_token, signature, message, ...shown }, payment) { // what is secret or long is not shown
  console.log(`${skill} ${JSON.stringify(shown)}${payment ? ' with a payment' : ''}`)
}

async function ask(skill, args) {
  show(skill, args)
  return client.sendMessage(message(data(skill, args)))
}

// offered asks for something that costs money, and returns the task of the offer.
async function offered(skill, args) {
  const offer = await ask(skill, args)
  const { metadata, parts } = offer.status.message
  say(`${state(offer)}, ${metadata['x402.payment.status']}`)
  say(parts[0].content.value)
  assert.equal(offer.status.state, TaskState.TASK_STATE_INPUT_REQUIRED)
  return offer
}

// sign pays for an offer: a promise of x402, in the metadata of a message to its task.
async function sign(offer) {
  const [terms] = offer.status.message.metadata['x402.payment.required'].accepts
  assert.equal(terms.network, 'base-sepolia')
  const authorization = {
    from: wallet.address, to: terms.payTo, value: terms.maxAmountRequired, validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + terms.maxTimeoutSeconds), nonce: `0x${randomBytes(32).toString('hex')}`,
  }
  const field = (type, name) => ({ type, name })
  const signature = await wallet.signTypedData({
    domain: { name: terms.extra.name, version: terms.extra.version, chainId: 84532, verifyingContract: terms.asset },
    types: {
      TransferWithAuthorization: [
        field('address', 'from'), field('address', 'to'), field('uint256', 'value'),
        field('uint256', 'validAfter'), field('uint256', 'validBefore'), field('bytes32', 'nonce'),
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  const payload = { x402Version: 1, scheme: terms.scheme, network: terms.network, payload: { signature, authorization } }
  return { taskId: offer.id, contextId: offer.contextId, metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload } }
}

function paid({ metadata }) {
  const [receipt] = metadata['x402.payment.receipts']
  assert.equal(receipt.success, true)
  say(`${metadata['x402.payment.status']} in ${receipt.transaction}`)
  return receipt.transaction
}

const help = await client.sendMessage(message(text('hello')))
assert.ok(dataOf(help.parts).skills.length >= card.skills.length)

const found = dataOf((await ask('search_domains', { query: domain.split('.')[0], tlds: ['com'] })).parts).results[0]
assert.deepEqual([found.domain, found.available], [domain, true])
say(`${domain} is available, ${found.priceUsd} USDC a year`)

const offer = await offered('register_domain', { domain, max_price_usd: '20' })
const payment = await sign(offer)
console.log('a payment for this task, followed as a stream')
let task
for await (const { payload: { $case, value } } of client.sendMessageStream(message(text('here is the payment'), payment))) {
  if ($case === 'task') task = value
  if ($case === 'artifactUpdate') task.artifacts = [value.artifact]
  if ($case === 'statusUpdate') task.status = value.status
  if ($case === 'artifactUpdate') say(`the result of ${value.taskId}`)
  else say(`${task.id} ${state(task)}: ${task.status.message.parts[0].content.value}`)
}
assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED)
const bought = dataOf(task.artifacts[0].parts)
assert.deepEqual([bought.domain, bought.jobId, bought.walletAddress], [domain, task.id, wallet.address.toLowerCase()])
const transaction = paid(task.status.message)
console.log('the same payment for this task')
const again = await client.sendMessage(message(text('here is the payment'), payment))
assert.deepEqual([again.id, again.status.state], [task.id, task.status.state])
assert.equal(again.status.message.metadata['x402.payment.receipts'][0].transaction, transaction)
say('the same task, and nothing more was paid')

const asked = dataOf((await ask('sign_in_message', { address: wallet.address })).parts)
say(asked.message.split('\n')[0])
const signed = { message: asked.message, signature: await wallet.signMessage({ message: asked.message }) }
const { accessToken } = dataOf((await ask('sign_in', signed)).parts)
say('signed in')

const record = { domain, type: 'A', host: 'www', value: '192.0.2.10', access_token: accessToken }
const priced = await offered('add_dns_record', record)
show('add_dns_record', record, true)
const added = await client.sendMessage(message(data('add_dns_record', record), await sign(priced)))
paid(added)
const list = dataOf((await ask('list_dns_records', { domain, access_token: accessToken })).parts)
assert.deepEqual(list.records.map((r) => r.id), [dataOf(added.parts).id])
for (const r of list.records) say(`${r.type} ${r.host} ${r.value}`)

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
console.log(`${domain} bought by ${bought.walletAddress} in ${transaction}`)
