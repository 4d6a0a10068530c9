import assert from 'node:assert/strict'
import { alone, api, axe, base, button, buyName, heading, newAccount, newName, openPage, picture, problem, test, unroute } from './lib.mjs'

test('without JavaScript: results, docs and reference', async () => {
  const { page, context } = await openPage({ noWallet: true, browser: { javaScriptEnabled: false, viewport: { width: 390, height: 844 } } })
  await page.goto(base)
  await page.getByLabel('Domain name').fill('example.io')
  await button(page, 'Search').click()
  assert.match(await page.locator('.result').first().textContent(), /example\.io\s+60\.50 USDC\s*first year, then 60\.50 a year/)
  await page.getByLabel('Domain name').fill('münchen.com')
  await button(page, 'Search').click()
  assert.match(await page.locator('.result').first().textContent(), /münchen\.com xn--mnchen-3ya\.com\s+13\.06 USDC/)
  await page.goto(base + '/app/names')
  assert.match(await page.locator('noscript').textContent(), /This view needs JavaScript/)
  assert.ok(await page.locator('noscript').isVisible())
  await page.goto(base + '/docs/')
  await page.getByLabel('Search the docs').fill('refund gas')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Payments: Settlement' }).click()
  await heading(page, 'Settlement').waitFor()
  await page.goto(base + '/docs/api')
  await heading(page, 'GET /domains/search').waitFor()
  await context.close()
})

test('the docs: an example runs, and is accessible', async () => {
  const { page, context, errors } = await openPage({ noWallet: true })
  await page.goto(base + '/docs/payments')
  await axe(page, 'a page of the docs')
  await picture(page, 'docs')
  await page.goto(base + '/docs/api')
  const call = page.locator('section.call').filter({ has: page.getByRole('heading', { name: 'GET /domains/pricing/{tld}' }) })
  await call.getByRole('button', { name: 'Run against this server' }).click()
  await call.getByText('"registration_price_usd": "13.06"').first().waitFor()
  assert.deepEqual(errors, [])
  await context.close()
})

test('the docs fit the screen: no page and no table scrolls sideways', async () => {
  const { page, context } = await openPage({ noWallet: true })
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 })
    for (const path of ['/docs/api', '/docs/configuration', '/docs/errors', '/docs/testing']) {
      await page.goto(base + path)
      const wide = await page.evaluate(() => [document.documentElement, ...document.querySelectorAll('.scroll:not(.diagram)')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent.slice(0, 80)))
      assert.deepEqual(wide, [], `${path} at ${width} px`)
    }
  }
  await page.goto(base + '/docs/configuration')
  await axe(page, 'a table on a phone')
  await context.close()
})

test('search: keyboard only, stale answers, all endings, filters, share link', async () => {
  const { page, context, errors } = await openPage({ noWallet: true, browser: { locale: 'de-DE', viewport: { width: 390, height: 844 } } })
  await page.goto(base)
  await page.keyboard.press('Tab')
  await page.getByText('Skip to content').and(page.locator(':focus')).waitFor()
  await page.getByLabel('Domain name').focus()
  // The answer to the first word comes after that to the second.
  let release
  const held = new Promise((resolve) => (release = resolve))
  await page.route('**/domains/search?query=first&*', async (route) => {
    await held
    await route.continue().catch(() => {}) // the page has given it up
  })
  const [asked] = await Promise.all([page.waitForRequest('**/domains/search?query=first&*'), page.keyboard.type('first')])
  await page.keyboard.type('-and-second.dev')
  const exact = page.locator('.result').first().filter({ hasText: /first-and-second\.dev\s*15,14 USDC/ }) // the locale writes a comma
  await exact.waitFor()
  release()
  assert.ok(asked)
  await page.getByRole('button', { name: 'Search all 500+ endings' }).click()
  await page.getByText(/of 543 available/).waitFor()
  await page.getByLabel('Highest price in USDC').fill('10')
  await page.keyboard.press('Tab')
  await page.getByText(/, \d+ shown/).waitFor()
  const shared = page.url()
  assert.match(shared, /q=first-and-second\.dev&all&max=10$/)
  await unroute(page)
  await page.goto(shared)
  await page.getByText(/of 543 available, \d+ shown/).waitFor()
  for (const [max, some] of [['1e30', true], ['0.0000001', false]]) {
    await page.goto(`${base}/?q=first-and-second.dev&max=${max}`)
    await page.getByText(some ? '10 of 10 available' : 'of 10 available, 1 shown').waitFor()
  }
  await page.getByLabel('Domain name').fill('example.nope')
  await page.getByText('We do not sell .nope names').waitFor()
  await page.getByLabel('Domain name').fill('a_b')
  await page.getByText('Use letters, digits and hyphens.').waitFor()
  await axe(page, 'a name that is none')
  assert.deepEqual(errors, [])
  await context.close()
})

test('a link to the first page clears the search, and Back brings it back', async () => {
  const { page, context } = await openPage({ noWallet: true })
  const row = page.getByRole('link', { name: 'Buy harvest.io' })
  await page.goto(base + '/?q=harvest.io')
  await row.waitFor()
  await page.getByRole('link', { name: 'Search', exact: true }).click()
  await heading(page, 'The price is the price').waitFor()
  assert.deepEqual([page.url(), await page.getByLabel('Domain name').inputValue(), await row.count()], [base + '/', '', 0])
  await page.goBack()
  await row.waitFor()
  assert.equal(await page.getByLabel('Domain name').inputValue(), 'harvest.io')
  await page.goto(base + '/app/buy/harvest')
  const wrong = page.getByRole('alert')
  assert.match(await wrong.textContent(), /That did not work\. "harvest" is not a domain name/)
  assert.equal(await button(page, 'Try again').count(), 0)
  await context.close()
})

test('results: taken, premium, and those that could not be checked', async () => {
  const name = newName()
  await buyName(newAccount(), name)
  const { page, context } = await openPage({ noWallet: true })
  const row = (domain) => page.locator('.result').filter({ hasText: domain })
  await page.goto(base)
  await page.getByLabel('Domain name').fill(name)
  await row(name).getByText('Taken').waitFor()
  assert.equal(await page.getByRole('link', { name: 'Buy ' + name }).count(), 0)
  await page.getByLabel('Domain name').fill('zz.io') // two letters: premium in the sandbox
  await row('zz.io').getByText('Premium').waitFor()
  assert.match(await row('zz.io').textContent(), /300\.50 USDC\s*first year, then 96\.50 USDC a year/)
  const label = newName().split('.')[0]
  await page.route('**/domains/search?*', async (route) => {
    const response = await route.fetch()
    const { query, results } = await response.json()
    await route.fulfill({ response, json: { query, results: results.map((r) => (r.tld === 'com' ? { domain: r.domain, tld: 'com', available: false, reason: 'unknown' } : r)) } })
  })
  await page.getByLabel('Domain name').fill(label)
  await row(label + '.com').getByText('Could not check').waitFor()
  assert.equal(await page.getByRole('link', { name: `Buy ${label}.com` }).count(), 0, 'what could not be checked is not for sale')
  await axe(page, 'names that could not be checked')
  await picture(page, 'unchecked')
  await unroute(page)
  await button(page, `Check ${label}.com again`).click()
  await page.getByRole('link', { name: `Buy ${label}.com` }).waitFor()
  await context.close()
})

test('a name in Unicode is shown in both forms', async () => {
  const { page, context, errors } = await openPage({ noWallet: true })
  await page.goto(base)
  for (const [typed, label] of [['MÜNCHEN', 'xn--mnchen-3ya'], ['日本語テスト', 'xn--zckzah9945czlbtz6h'], ['straße', 'xn--strae-oqa']]) {
    await page.getByLabel('Domain name').fill(typed + '.com')
    const shown = typed.toLowerCase() + '.com'
    await page.locator('.result.exact .name').getByText(`${shown} ${label}.com`).waitFor()
    await page.getByRole('link', { name: 'Buy ' + shown }).waitFor()
  }
  await page.getByLabel('Domain name').fill('xn--99999999999.com') // no Punycode
  assert.equal((await page.locator('.result.exact .name').filter({ hasText: 'xn--9' }).textContent()).trim(), 'xn--99999999999.com')
  await page.goto(base + '/app/buy/münchen.com')
  await heading(page, 'münchen.com xn--mnchen-3ya.com').waitFor()
  await button(page, /^Buy for/).waitFor()
  assert.equal(await page.title(), 'Buy münchen.com – Deed')
  await axe(page, 'a name in Unicode')
  assert.deepEqual(errors, [])
  await context.close()
})

alone('a registry that does not answer: nothing is said to be available', async () => {
  const { page, context } = await openPage({ noWallet: true })
  await page.goto(base)
  await api('POST', '/sandbox/faults', { registrar: 'down' })
  try {
    await page.getByLabel('Domain name').fill(newName())
    await problem(page, 'lost').getByText('nothing could be checked').waitFor()
    assert.equal(await page.locator('.result').count(), 0)
    await axe(page, 'a registry that does not answer')
  } finally {
    await api('POST', '/sandbox/faults', { registrar: 'none' })
  }
  await page.getByRole('button', { name: 'Try again', exact: true }).click() // after a countdown
  await page.locator('.result').first().waitFor()
  await context.close()
})
