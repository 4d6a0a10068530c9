// A client of A2A 0.3 is told what to speak, and prose gets a helpful reply from
// the client of A2A 1.0. What it prints is the transcript in docs/agents.md.
import assert from 'node:assert/strict'
import { ClientFactory } from '@a2a-js/sdk/client'
import { A2AClient } from '@a2a-js/sdk-0.3/client'

const [base, domain] = process.argv.slice(2)
const say = (line) => console.log('  ' + line)
const words = `is ${domain} still available?`

console.log(`message/send of A2A 0.3: ${words}`)
const old = new A2AClient({ // the card of A2A 1.0 has no url for it, so its user wrote one
  name: 'Deed', description: '', version: '1', url: base + '/a2a', preferredTransport: 'JSONRPC', protocolVersion: '0.3.0',
  capabilities: {}, defaultInputModes: [], defaultOutputModes: [], skills: [],
})
const { error } = await old.sendMessage({ message: { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: words }] } })
assert.equal(error.code, -32009)
assert.deepEqual(error.data.find((d) => d.supportedVersions).supportedVersions, ['1.0'])
say(`${error.code}: ${error.message}`)

console.log(`SendMessage of A2A 1.0: ${words}`)
const client = await new ClientFactory().createFromUrl(base)
const reply = await client.sendMessage({
  message: {
    messageId: 'm2', role: 1, contextId: '', taskId: '', extensions: [], referenceTaskIds: [], metadata: undefined,
    parts: [{ content: { $case: 'text', value: words }, metadata: undefined, filename: '', mediaType: '' }],
  },
  configuration: undefined, metadata: undefined, tenant: '',
})
const { value } = reply.parts.find((p) => p.content.$case === 'text').content
say(value.split('\n')[0])
