// What every paying client has in common: it buys a name with its own fetch, gets
// 201 with a receipt, and a look at the job agrees.
import assert from 'node:assert/strict'

export const [base, key, domain] = process.argv.slice(2)

export const order = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ domain }),
}

export async function check(status, body, receipt) {
  assert.equal(status, 201, JSON.stringify(body))
  assert.equal(body.domain, domain)
  assert.equal(body.payment.settled, true)
  assert.equal(receipt.success, true)
  assert.equal(receipt.transaction, body.payment.txHash)
  const job = await (await fetch(`${base}/domains/status/${body.jobId}`)).json()
  assert.equal(job.status, 'completed')
  console.log(`${domain} bought by ${body.walletAddress} in ${body.payment.txHash}`)
}
