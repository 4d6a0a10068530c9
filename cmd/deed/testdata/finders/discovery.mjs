// A discovery client finds what costs money and what it costs, probes the paid
// calls without a body, and finds no fault with their offers.
import assert from 'node:assert/strict'
import { checkEndpointSchema, discoverOriginSchema, validatePaymentRequiredDetailed } from '@agentcash/discovery'

const [base] = process.argv.slice(2)
const found = await discoverOriginSchema({ target: base })
assert.equal(found.found, true)
const paid = found.endpoints.filter((e) => e.authMode === 'paid')
console.log(paid.map((e) => `${e.method} ${e.path} ${JSON.stringify(e.price)}`).join('\n'))
for (const path of ['/domains/register', '/domains/renew', '/domains/transfer', '/dns/{domain}']) {
  assert.ok(paid.some((e) => e.path === path && e.method === 'POST'), path)
}
for (const path of ['/domains/register', '/domains/renew', '/domains/transfer']) {
  const endpoint = await checkEndpointSchema({ url: base + path, probe: true })
  assert.equal(endpoint.found, true, JSON.stringify(endpoint))
  const answer = await fetch(base + path, { method: 'POST' })
  assert.equal(answer.status, 402)
  const offer = JSON.parse(atob(answer.headers.get('payment-required')))
  const judged = validatePaymentRequiredDetailed(offer)
  const errors = judged.issues.filter((i) => i.severity === 'error')
  assert.deepEqual(errors, [], path)
  assert.equal(judged.valid, true, path)
  console.log(`${path} is well offered`)
}
