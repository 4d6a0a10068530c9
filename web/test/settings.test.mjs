import assert from 'node:assert/strict'
import { api, axe, button, buyName, newAccount, newName, openPage, pay, picture, signIn, test } from './lib.mjs'

/** Waits until the registry has the key of a name, because then a move has to wait. */
async function signed(name) {
  for (const end = Date.now() + 300_000; Date.now() < end; ) {
    if ((await api('GET', '/domains/' + name)).body.dnssec.ds.length) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(name + ' has no DS')
}

test('settings: lock, name servers, auth code, hand-over; and renewal', async () => {
  const account = newAccount()
  const name = newName()
  await buyName(account, name)
  const { page, errors, context } = await openPage({ account })
  await signIn(page, `/app/names/${name}?tab=settings`)
  await page.getByLabel(/One per line/).fill('ns1.example.org')
  await button(page, 'Unlock').click()
  await page.getByText('The name is unlocked.').waitFor()
  await page.getByText('Unlocked', { exact: true }).waitFor()
  assert.equal(await page.getByLabel(/One per line/).inputValue(), 'ns1.example.org', 'what was typed is lost')
  await button(page, 'Lock').click()
  await page.getByText('The name is locked.').waitFor()
  await axe(page, 'the settings')
  await picture(page, 'settings')
  const refused = page.getByText('must be 2 to 13 host names')
  for (const next of [() => button(page, 'Show the auth code').click(), () => button(page, 'What would I get back?').click(), () => page.getByLabel(/One per line/).fill('')]) {
    await page.getByLabel(/One per line/).fill('ns1.example.net')
    await button(page, 'Save name servers').click()
    await refused.waitFor()
    await next()
    await refused.waitFor({ state: 'detached' }) // it was about the action before
  }
  await button(page, 'No').first().click()
  await signed(name)
  await page.getByLabel(/One per line/).fill('ns1.example.net\nns2.example.net')
  await button(page, 'Save name servers').click()
  await page.getByText('The name servers change as soon as DNSSEC allows it.').waitFor()
  await page.locator('[data-delegation="withdrawing"]').getByText('ns1.example.net, ns2.example.net').waitFor()
  await axe(page, 'a move')
  await picture(page, 'move')
  await button(page, 'Keep the current servers').click()
  await page.locator('[data-delegation]').waitFor({ state: 'detached' })
  await signed(name) // the first move may have withdrawn the key
  await page.getByLabel(/One per line/).fill(`ns1.${name} 192.0.2.1, 2001:db8::1\nns2.example.net`)
  await button(page, 'Save name servers').click()
  await page.locator('[data-delegation]').getByText(`ns1.${name}, ns2.example.net`).waitFor()
  assert.deepEqual((await api('GET', '/domains/' + name)).body.delegation.glue, [{ host: 'ns1.' + name, addresses: ['192.0.2.1', '2001:db8::1'] }])

  await page.getByRole('link', { name: 'Renew', exact: true }).click()
  assert.equal(await page.getByLabel('Years').locator('option').count(), 9, 'ten years from now, and one is there')
  await page.getByLabel('Years').selectOption('2')
  await axe(page, 'the renewal')
  await button(page, 'Renew for 26.12 USDC').click()
  await pay(page)
  await page.getByText('Confirmed by the registry').waitFor()
  await page.goto(page.url().replace(/\/app.*/, `/app/names/${name}?tab=renew`))
  assert.equal(await page.getByLabel('Years').locator('option').count(), 7, 'three of ten years are there, one of them with a leap day')

  await page.goto(page.url().replace(/\/app.*/, `/app/names/${name}?tab=settings`))
  await button(page, 'Show the auth code').click()
  await button(page, 'Yes, unlock and show the code').click()
  await page.getByText('Auth code:').locator('strong').waitFor()
  assert.equal((await api('GET', '/domains/' + name)).body.locked, false, 'the code unlocks the name')
  const heir = newAccount().address
  await page.getByLabel('Address of the new owner').fill(heir)
  await button(page, 'Hand over…').click()
  assert.ok(await button(page, 'Hand over for good').isDisabled(), 'a second confirmation is needed')
  await page.getByLabel(`Type ${name} to confirm`).fill(name)
  await button(page, 'Hand over for good').click()
  await page.getByText('This name belongs to').waitFor()
  assert.equal((await api('GET', '/domains/' + name)).body.walletAddress, heir.toLowerCase())
  assert.deepEqual(errors, [])
  await context.close()
})

test('settings: a registration is undone, with the amount shown first', async () => {
  const account = newAccount()
  const name = newName()
  await buyName(account, name)
  const { page, errors, context } = await openPage({ account })
  await signIn(page, `/app/names/${name}?tab=settings`)
  await button(page, 'What would I get back?').click()
  await page.getByText('You paid 13.06 USDC, the registry keeps 0.20').waitFor()
  assert.equal((await api('GET', '/domains/' + name)).status, 200, 'the question changed nothing')
  await axe(page, 'the refund of a cancellation')
  // The first answer is that of a registry which has not answered yet.
  await page.route(`**/domains/${name}/cancel`, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, status: 202, json: { ...(await answer.json()), status: 'cancelling' } })
  }, { times: 1 })
  await button(page, 'Delete the name for 12.86 USDC').click()
  await page.getByText('The registry has not answered yet').waitFor()
  await page.getByText('is cancelled, and 12.86 USDC go back').waitFor()
  assert.equal((await api('GET', '/domains/' + name)).status, 404)
  await button(page, 'Continue').click()
  await page.getByText('Not registered here').waitFor()
  assert.deepEqual(errors, [])
  await context.close()
})
