import assert from 'node:assert/strict'
import { axe, base, button, buyName, newAccount, newName, openPage, picture, signIn, test } from './lib.mjs'

test('webhooks and the calendar: add, test, new secret, delete', async () => {
  const account = newAccount()
  await buyName(account, newName()) // webhooks are for owners
  const { page, context, errors } = await openPage({ account })
  const failed = []
  // Without an address for notices, /account/email is 404.
  page.on('response', (r) => r.status() >= 400 && !r.url().endsWith('/account/email') && failed.push(r.url()))
  await signIn(page, '/app/account')
  await button(page, 'New address of the calendar').and(page.locator(':enabled')).waitFor()
  await page.waitForLoadState('networkidle')
  assert.deepEqual(failed, [], 'an account without webhooks is no error')
  await page.getByLabel('Address of a webhook').fill('http://example.com/hook')
  await button(page, 'Add a webhook').click()
  await page.getByRole('alert').waitFor() // only https
  await page.getByLabel('Address of a webhook').fill('https://example.com/hook')
  await button(page, 'Add a webhook').dblclick() // one is added
  await page.getByText('Secret, shown only now: whsec_').waitFor()
  const secret = await page.locator('.note strong.mono').textContent()
  await button(page, 'New secret of https://example.com/hook').click()
  await page.getByText('It has a new secret').waitFor()
  assert.notEqual(await page.locator('.note strong.mono').textContent(), secret)
  await button(page, 'Test https://example.com/hook').click()
  await page.getByText('webhook.test').waitFor()
  await button(page, 'New address of the calendar').click()
  const feed = page.getByText(/\/calendar\/[\w-]+\.ics/)
  await feed.waitFor()
  await axe(page, 'webhooks')
  await picture(page, 'webhooks')
  const path = new URL(await feed.textContent()).pathname
  assert.equal((await fetch(base + path)).status, 200)
  await button(page, 'End the calendar').click()
  await page.getByText('The calendar has ended.').waitFor()
  assert.equal((await fetch(base + path)).status, 404)
  await button(page, 'End the calendar').click()
  await page.getByText('There is no calendar.').waitFor()
  await button(page, 'Delete https://example.com/hook').click()
  await button(page, 'Yes, delete').click()
  await page.getByText('The webhook is deleted.').waitFor()
  assert.equal(await button(page, 'Test https://example.com/hook').count(), 0)
  assert.deepEqual(errors, [])
  await context.close()
})
