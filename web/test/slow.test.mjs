import assert from 'node:assert/strict'
import { test } from 'node:test'
import { api, atReview, axe, heading, pay, picture } from './lib.mjs'

test('a registry that takes its time: the order goes on through reloads', async () => {
  const { page, wallet, context, name } = await atReview()
  await api('POST', '/sandbox/faults', { registrar: 'late', times: 1 })
  await pay(page)
  await page.getByText('Waiting for the registry').waitFor() // 202
  await axe(page, 'an order that waits')
  await picture(page, 'waiting')
  await page.reload()
  await heading(page, `${name} is yours.`).waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 1)
  await context.close()
})
