// Notices by e-mail, if the service has a mail server.
import assert from 'node:assert/strict'
import { axe, base, button, buyName, newAccount, newName, openPage, picture, signIn, test } from './lib.mjs'

/** Waits for the next message that the mail server gets. */
const nextMail = async () => (await fetch(process.env.DEED_MAILBOX)).json()
const codeOf = (m) => /^ {4}([a-z2-7]{10})\r?$/m.exec(m.body)[1]

if (process.env.DEED_MAILBOX) test('e-mail: an address is confirmed with its code, changed and deleted', async () => {
  const account = newAccount()
  const stranger = await openPage()
  await signIn(stranger.page, '/app/account')
  await stranger.page.getByLabel('E-mail address').fill('owner@example.com')
  await button(stranger.page, 'Send me a code').click()
  await stranger.page.getByRole('alert').waitFor() // the wallet has no name
  await stranger.context.close()

  await buyName(account, newName())
  const { page, errors, context } = await openPage({ account })
  await signIn(page, '/app/account')
  await page.getByLabel('E-mail address').fill('owner@example.com')
  await button(page, 'Send me a code').click()
  await page.getByText('Enter the code that was sent to o…@example.com').waitFor()
  await axe(page, 'the code of an e-mail address')
  await picture(page, 'email-code')
  const first = await nextMail()
  assert.deepEqual(first.to, ['owner@example.com'])
  await page.reload() // another visit, another device
  await page.getByLabel('Code').fill('aaaaaaaaaa')
  await button(page, 'Confirm').click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Code').fill(' ' + codeOf(first).toUpperCase() + ' ')
  await button(page, 'Confirm').click()
  await page.getByText('The address is confirmed.').waitFor()
  await page.getByText('Messages go to o…@example.com').waitFor()
  await axe(page, 'a confirmed e-mail address')
  await picture(page, 'email')

  await button(page, 'Use another address').click()
  await page.getByLabel('E-mail address').fill('second@example.com')
  await button(page, 'Send me a code').click()
  await page.getByText('Enter the code that was sent to s…@example.com').waitFor()
  const second = await nextMail()
  assert.deepEqual(second.to, ['second@example.com'])
  await button(page, 'Delete the address').click()
  await button(page, 'Yes, send no more messages').click()
  await page.getByText('The address is deleted.').waitFor()
  await page.getByLabel('E-mail address').waitFor()

  // The reader of a message ends it without a wallet, and the page says so.
  await page.getByLabel('E-mail address').fill('third@example.com')
  await button(page, 'Send me a code').click()
  await page.getByText('Enter the code that was sent to t…@example.com').waitFor()
  const third = await nextMail()
  await page.goto(third.unsubscribe)
  await axe(page, 'the page that ends messages')
  await button(page, 'Send me no more messages').click()
  await page.getByText('You get no more messages.').waitFor()
  await page.goto(base + '/app/account')
  await page.getByLabel('E-mail address').waitFor()
  assert.deepEqual(errors, [])
  await context.close()
})
