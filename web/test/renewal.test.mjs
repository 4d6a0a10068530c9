// Renewals: those that are signed in advance, and the price of a premium name.
import assert from 'node:assert/strict'
import { api, axe, button, buyName, connect, heading, newAccount, newName, openPage, pay, picture, problem, signIn, test } from './lib.mjs'

const cap = '15.68 USDC' // a fifth above 13.06
const isAutomatic = async (name) => (await api('GET', '/domains/' + name)).body.autoRenew

test('automatic renewal: cap in words, exactly that is signed, and what a revocation leaves', async () => {
  const account = newAccount()
  const name = newName()
  await buyName(account, name)
  const { page, wallet, errors, context } = await openPage({ account })
  await signIn(page, `/app/names/${name}?tab=renew`)
  await page.getByText('A year costs 13.06 USDC today.').waitFor()
  await page.getByLabel('How many renewals').selectOption('2')
  await button(page, `Sign 2 renewals, at most ${cap} each…`).click()
  await heading(page, 'Before you sign').and(page.locator(':focus')).waitFor()
  await axe(page, 'what is signed for automatic renewal')
  await picture(page, 'mandate-review')
  const said = await page.locator('.typed').allTextContents()
  const words = await page.locator('.review').textContent()

  // Declined at the second one: nothing is stored, and the first is not asked for again.
  let second
  wallet.signature = (typed) => {
    if (typed === said[1] && !second) {
      second = true
      throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
    }
  }
  await button(page, `Sign 2 renewals, at most ${cap} each`).click()
  await problem(page, 'refused').waitFor()
  assert.equal(await isAutomatic(name), false)
  await button(page, `Sign 2 renewals, at most ${cap} each`).click()
  await page.getByText(`Signed: ${name} is renewed automatically 2 times.`).waitFor()
  const asked = wallet.asked('eth_signTypedData_v4').map((r) => r.params[1])
  assert.deepEqual(asked, [said[0], said[1], said[1]], 'the wallet was asked to sign something else than the page showed')
  for (const text of said) {
    const { primaryType, message } = JSON.parse(text)
    assert.equal(primaryType, 'TransferWithAuthorization')
    assert.equal(message.value, '15680000')
    const day = (seconds) => new Intl.DateTimeFormat('en-US', { dateStyle: 'medium' }).format(new Date(Number(seconds) * 1000))
    for (const part of [message.from, message.to, 'at most ' + cap, '31.36 USDC in all', `from ${day(message.validAfter)} to ${day(message.validBefore)}`]) assert.ok(words.includes(part), `the words lack ${part}`)
    assert.equal(message.from, account.address)
  }
  assert.equal(new Set(said.map((text) => JSON.parse(text).message.nonce)).size, 2)
  assert.equal(await isAutomatic(name), true)
  await page.getByText('Renews automatically', { exact: true }).waitFor()
  await button(page, 'All of these are signed').waitFor()
  await axe(page, 'the signed renewals')
  await picture(page, 'mandates')

  await button(page, 'Revoke all').click()
  await button(page, 'Yes, revoke all 2').click()
  await page.getByText('Revoked: the service has deleted what you signed').waitFor()
  await page.getByText('2 signatures can still be cancelled on the chain').click()
  const remains = await page.locator('[data-remains]').textContent()
  for (const text of said) assert.ok(remains.includes(JSON.parse(text).message.nonce), 'a nonce is not said')
  await axe(page, 'what remains on the chain')
  await picture(page, 'mandates-revoked')
  assert.equal(await isAutomatic(name), false)
  assert.deepEqual(errors, [])
  await context.close()
})

test('automatic renewal: a cap of my own, a bad one, a lost answer, another account', async () => {
  const account = newAccount()
  const name = newName()
  await buyName(account, name)
  const { page, wallet, context } = await openPage({ account })
  await signIn(page, `/app/names/${name}?tab=renew`)
  const field = page.getByLabel('The most that each may cost')
  await field.fill('5')
  await field.blur()
  await page.getByText("below today's price of 13.06 USDC").waitFor()
  await field.fill('20')
  await field.blur()
  await button(page, 'Sign 1 renewal, at most 20.00 USDC…').click()
  await heading(page, 'Before you sign').waitFor()
  await wallet.switchTo(page, newAccount())
  await button(page, 'Sign 1 renewal, at most 20.00 USDC').click()
  await problem(page, 'switched').waitFor()
  assert.equal(wallet.asked('eth_signTypedData_v4').length, 0, 'another account was asked to sign')
  await wallet.switchTo(page, account)
  await page.route('**/account/mandates/' + name, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch() // the service has it, but its answer is lost
    await route.abort()
  })
  await button(page, 'Sign 1 renewal, at most 20.00 USDC').click()
  await page.getByText(`Signed: ${name} is renewed automatically once.`).waitFor()
  assert.equal(await isAutomatic(name), true)
  await context.close()
})

test('a premium name is renewed at its own price', async () => {
  const account = newAccount()
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const pick = () => letters[Math.floor(Math.random() * letters.length)]
  const name = `${pick()}${pick()}.io` // two letters: premium in the sandbox, with a renewal of its own
  assert.equal((await buyName(account, name)).status, 201)
  const price = (await api('GET', '/domains/' + name)).body.renewal_price_usd
  assert.notEqual(price, (await api('GET', '/domains/pricing/io')).body.renewal_price_usd)
  const { page, context } = await openPage({ account })
  await page.goto(`${process.env.DEED_URL}/app/names/${name}?tab=renew`)
  await button(page, `Renew for ${price} USDC`).click()
  await connect(page)
  await heading(page, 'Before you sign').waitFor()
  assert.equal(await problem(page, 'price').count(), 0, 'the offer differs from what the page said')
  const other = await context.newPage()
  await other.goto(page.url())
  await button(other, `Renew for ${price} USDC`).waitFor()
  await pay(page)
  await page.getByText('Confirmed by the registry').waitFor()
  // The other tab does not renew the name once more, and says when it expires now.
  await button(other, `Renew for ${price} USDC`).click()
  await connect(other)
  await problem(other, 'stale').getByText('The name was renewed in the meantime.').waitFor()
  await other.getByText(`Expires`).and(other.getByText(String(new Date().getUTCFullYear() + 2))).waitFor()
  await button(other, `Renew for ${price} USDC`).click()
  await heading(other, 'Before you sign').waitFor()
  await context.close()
})

test('a name is renewed for the years that its TLD sells', async () => {
  const account = newAccount()
  const name = newName().replace(/\.com$/, '.ai') // from two years on
  assert.equal((await buyName(account, name)).status, 201)
  const price = Number((await api('GET', '/domains/' + name)).body.renewal_price_usd)
  const { page, context } = await openPage({ account })
  await page.goto(`${process.env.DEED_URL}/app/names/${name}?tab=renew`)
  await button(page, `Renew for ${(2 * price).toFixed(2)} USDC`).waitFor()
  const offered = await page.getByLabel('Years').locator('option').allTextContents()
  assert.deepEqual(offered.map((text) => text.split(',')[0]), ['2 years', '3 years', '4 years', '5 years', '6 years', '7 years', '8 years'])
  await context.close()
})
