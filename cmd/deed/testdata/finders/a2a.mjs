// The SDK of A2A for JavaScript finds the service by its card, checks who signed
// it, looks around, and buys a name: an offer, a signature, a task that is done.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { verifyAgentCardSignature } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { privateKeyToAccount } from 'viem/accounts'

const [base, key, domain] = process.argv.slice(2)
const client = await new ClientFactory().createFromUrl(base)

const card = await client.getAgentCard()
const keysURL = `${base}/.well-known/jwks.json`
const verify = verifyAgentCardSignature(async (kid, jku) => {
  assert.equal(jku, keysURL)
  return (await (await fetch(jku)).json()).keys.find((k) => k.kid === kid)
})
// As it was sent: the SDK's own form of a card is without its security schemes
// once it is read a second time.
const sent = await (await fetch(`${base}/.well-known/agent-card.json`)).json()
await verify(sent)
await assert.rejects(verify({ ...sent, description: 'another' }))
console.log(`${card.name} has ${card.skills.length} skills and a good signature`)

let count = 0
const message = (content, more = {}) => ({
  message: {
    messageId: `m${++count}`, role: 1, contextId: '', taskId: '', extensions: [], referenceTaskIds: [], metadata: undefined,
    parts: [{ content, metadata: undefined, filename: '', mediaType: '' }], ...more,
  },
  configuration: undefined, metadata: undefined, tenant: '',
})
const ask = (skill, args) => message({ $case: 'data', value: { skill, arguments: args } })

const found = await client.sendMessage(ask('search_domains', { query: domain.split('.')[0], tlds: ['com'] }))
const result = found.parts[0].content.value.results[0]
assert.deepEqual([result.domain, result.available], [domain, true])

const help = await client.sendMessage(message({ $case: 'text', value: 'hello' }))
assert.equal(help.parts[1].content.value.skills.length, card.skills.length)

const offer = await client.sendMessage(ask('register_domain', { domain }))
assert.equal(offer.status.message.metadata['x402.payment.status'], 'payment-required')
const [terms] = offer.status.message.metadata['x402.payment.required'].accepts

const wallet = privateKeyToAccount(key)
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
const payment = { x402Version: 1, scheme: terms.scheme, network: terms.network, payload: { signature, authorization } }
const paid = message({ $case: 'text', value: 'paid' }, {
  taskId: offer.id, contextId: offer.contextId, metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment },
})
let task
for await (const event of client.sendMessageStream(paid)) {
  const { $case, value } = event.payload
  if ($case === 'task') task = value
  if ($case === 'statusUpdate') task.status = value.status
  if ($case === 'artifactUpdate') task.artifacts = [value.artifact]
}
const bought = task.artifacts[0].parts[0].content.value
assert.equal(bought.domain, domain)
assert.equal(bought.jobId, task.id)
const [receipt] = task.status.message.metadata['x402.payment.receipts']
assert.equal(receipt.success, true)
const later = await client.getTask({ id: task.id, tenant: '', historyLength: undefined })
assert.equal(later.status.state, task.status.state)
console.log(`${domain} bought by ${bought.walletAddress} in ${receipt.transaction}`)
