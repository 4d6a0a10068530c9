// Pictures of the views, for docs/page.md and for people who look at them.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { axe, base, button, buyName, connect, heading, newAccount, newName, openPage, shots, signIn, test } from './lib.mjs'

// docs/page.md shows these, light on a desktop; those that are longer than the screen as a whole.
const inDocs = { search: false, review: true, records: false, renewal: true }

/** Checks a view in light and dark, and saves its pictures if a folder is given. */
async function shoot(page, view, kind) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await axe(page, `${view}, ${kind}, ${colorScheme}`)
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view} is wider than the screen of a ${kind}`)
    if (!shots) continue
    mkdirSync(shots + '/states', { recursive: true })
    await page.evaluate(() => (document.documentElement.style.scrollbarGutter = 'auto')) // pictures have no scrollbar
    await page.screenshot({ path: `${shots}/states/${view}-${kind}-${colorScheme}.png` })
    if (view in inDocs && kind === 'desktop' && colorScheme === 'light') await page.screenshot({ path: `${shots}/${view}-desktop.png`, fullPage: inDocs[view] })
  }
}

const screens = {
  desktop: { viewport: { width: 1100, height: 900 } },
  phone: { viewport: { width: 390, height: 760 }, isMobile: true, hasTouch: true },
}

for (const [kind, o] of Object.entries(screens)) {
  test(`pictures of the views, ${kind}`, async () => {
    const account = newAccount()
    const name = `orchard-${kind}.com`
    await buyName(account, name, [{ type: 'A', host: '@', value: '192.0.2.10' }, { type: 'CNAME', host: 'www', value: name }, { type: 'MX', host: '@', value: 'mail.example.com', distance: 10 }])
    const { page, context } = await openPage({ account, browser: o })
    await page.goto(base)
    await shoot(page, 'home', kind)
    await page.goto(base + '/?q=harvest.io')
    await page.getByRole('link', { name: 'Buy harvest.io' }).waitFor()
    await shoot(page, 'search', kind)
    await page.goto(base + '/app/buy/harvest.io')
    await button(page, /^Buy for/).waitFor()
    await shoot(page, 'buy', kind)
    await button(page, /^Buy for/).click()
    await heading(page, 'Connect a wallet').waitFor()
    await shoot(page, 'wallets', kind)
    await connect(page)
    await heading(page, 'Before you sign').scrollIntoViewIfNeeded()
    await shoot(page, 'review', kind)
    await shootOwner(page, name, kind)
    for (const [view, query] of [['terminal', `port=40000&state=${'A'.repeat(26)}&wallet=${account.address}`], ['terminal-done', 'result=done']]) {
      await page.goto(base + '/app/login?' + query)
      await heading(page, /command line/).waitFor()
      await shoot(page, view, kind)
    }
    for (const [view, path] of [['docs', '/docs/names'], ['map', '/docs/'], ['reference', '/docs/api']]) {
      await page.goto(base + path)
      await shoot(page, view, kind)
    }
    await page.goto(base + '/docs/payments')
    await page.locator('.diagram').first().scrollIntoViewIfNeeded()
    await shoot(page, 'diagram', kind)
    await context.close()
  })
}

/** The views of an owner. */
async function shootOwner(page, name, kind) {
  await page.goto(base + '/app/names/' + name)
  await button(page, 'Sign in').waitFor()
  await shoot(page, 'signin', kind)
  await button(page, 'Sign in').click()
  await button(page, 'Edit A @').waitFor()
  await shoot(page, 'records', kind)
  await page.goto(`${base}/app/names/${name}?tab=history`)
  await page.getByText('now', { exact: true }).waitFor()
  await shoot(page, 'history', kind)
  await page.goto(`${base}/app/names/${name}?tab=renew`)
  await page.getByLabel('How many renewals').selectOption('3')
  await button(page, /^Sign 3 renewals/).click()
  await heading(page, 'Before you sign').scrollIntoViewIfNeeded()
  await shoot(page, 'renewal', kind)
  await page.goto(`${base}/app/names/${name}?tab=settings`)
  await button(page, 'Unlock').waitFor()
  await shoot(page, 'settings', kind)
  await page.goto(base + '/app/names')
  await page.getByRole('link', { name }).waitFor()
  await shoot(page, 'names', kind)
  await page.goto(base + '/app/account')
  await heading(page, 'Payments and refunds').waitFor()
  await shoot(page, 'account', kind)
  await page.getByRole('link', { name: 'Registration' }).click()
  await heading(page, `${name} is yours.`).waitFor()
  await shoot(page, 'receipt', kind)
}

// A table that is wider than its frame hides its last columns: on a phone nobody looks for them.
test('long names and hosts on a phone', async () => {
  const account = newAccount()
  const name = newName('n'.repeat(52))
  await buyName(account, name, [{ type: 'TXT', host: 'selector1._domainkey.a-long-host-name.example', value: 'v=DKIM1; p=' + 'M'.repeat(300) }])
  const { page, context } = await openPage({ account, browser: screens.phone })
  await signIn(page, '/app/names')
  const fits = (view) => page.locator('.scroll').evaluate((e) => e.scrollWidth - e.clientWidth).then((over) => assert.ok(over <= 0, `${view} is ${over} pixels wider than its frame`))
  await page.getByRole('link', { name }).waitFor()
  await fits('the list of names')
  await page.setViewportSize({ width: 1100, height: 900 })
  await fits('the list of names on a desktop')
  await page.setViewportSize(screens.phone.viewport)
  await page.getByRole('link', { name }).click()
  await button(page, /^Edit TXT/).waitFor()
  await fits('the table of records')
  const fitsScreen = async (view) => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view} is wider than the screen`)
  await page.getByText('Import or export a zone file').click()
  await fitsScreen('the import')
  await page.getByRole('link', { name: 'Settings' }).click()
  await button(page, 'Unlock').waitFor()
  await fitsScreen('the settings')
  await page.goto(base + '/app/account')
  await page.getByRole('link', { name: 'Registration' }).click()
  await page.getByRole('link', { name: 'Manage ' + name }).waitFor()
  await fitsScreen('the receipt')
  await context.close()
})
