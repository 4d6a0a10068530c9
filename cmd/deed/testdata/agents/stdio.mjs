// An agent that uses the wallet of its user through `deed mcp`, on stdin and
// stdout. The user is asked about each payment, and the budget holds for all of
// them. What it prints is the transcript in docs/agents.md.
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const [deed, server, key, config, domain, mode] = process.argv.slice(2)
const args = ['mcp', '--max-price', '15', '--budget', '14']
const transport = new StdioClientTransport({
  command: deed, args, stderr: 'pipe',
  env: { DEED_SERVER: server, DEED_PRIVATE_KEY: key, XDG_CONFIG_HOME: config },
})
let said = ''
transport.stderr.on('data', (data) => { said += data })

const say = (line) => console.log('  ' + line)
const answers = ['decline', 'accept', 'accept']
const client = new Client({ name: 'agent', version: '1.0.0' }, {
  capabilities: { elicitation: { form: {} } },
  versionNegotiation: { mode },
})
client.setRequestHandler('elicitation/create', ({ params }) => {
  const action = answers.shift()
  say(`asks the user: ${params.message}`)
  say(`the user: ${action}`)
  return { action, ...(action === 'accept' && { content: {} }) }
})
console.log('deed ' + args.join(' '))
await client.connect(transport)
const { tools } = await client.listTools()
for (const line of said.trim().split('\n')) say(line)
console.log('tools/list')
say(`${tools.length} tools`)
for (const name of ['register_domain', 'add_dns_record']) {
  assert.equal(tools.find((tool) => tool.name === name).annotations.destructiveHint, true)
}

async function use(name, args) {
  console.log(`${name} ${JSON.stringify(args)}`)
  const result = await client.callTool({ name, arguments: args })
  if (result.isError) say(`${result.structuredContent.code}: ${result.structuredContent.message}`)
  return result
}

const order = { domain, max_price_usd: '20' }
assert.equal((await use('register_domain', order)).isError, true)
const bought = await use('register_domain', order)
assert.ok(!bought.isError, JSON.stringify(bought.content))
say(`${bought.structuredContent.domain} is ${bought.structuredContent.status}, paid in ${bought.structuredContent.payment.txHash}`)
const record = await use('add_dns_record', { domain, type: 'A', host: 'www', value: '192.0.2.10' })
assert.ok(!record.isError, JSON.stringify(record.content))
say(`${record.structuredContent.host} ${record.structuredContent.type} ${record.structuredContent.value}`)
assert.equal((await use('register_domain', { domain: 'another-' + domain })).isError, true)
assert.deepEqual(answers, []) // each payment was asked about once, and what is above the budget was not
const { total_spent_usd: spent } = (await use('get_account', {})).structuredContent
say(`${spent} USDC spent`)
await client.close()
