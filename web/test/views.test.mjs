// Pictures of the views for docs/page.md and for people who look at them, and the
// figures that Chromium measures.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { test } from 'node:test'
import { axe, base, browser, button, buyName, connect, fund, heading, newAccount, openPage, shots } from './lib.mjs'

async function shoot(page, name) {
  await axe(page, name)
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name + ' is wider than the screen')
  if (!shots) return
  mkdirSync(shots + '/states', { recursive: true })
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.evaluate(() => (document.documentElement.style.scrollbarGutter = 'auto')) // pictures have no scrollbar
  await page.screenshot({ path: `${shots}/${name}.png` }) // docs/page.md shows those of the desktop
}

test('pictures of the main views', async () => {
  for (const [kind, o] of Object.entries({
    desktop: { viewport: { width: 1100, height: 900 }, colorScheme: 'light' },
    phone: { viewport: { width: 390, height: 760 }, colorScheme: 'dark', isMobile: true, hasTouch: true },
  })) {
    const folder = kind === 'desktop' ? '' : 'states/'
    const account = newAccount()
    await fund(account.address)
    const name = `orchard-${kind}.com`
    await buyName(account, name, [{ type: 'A', host: '@', value: '192.0.2.10' }, { type: 'CNAME', host: 'www', value: name }, { type: 'MX', host: '@', value: 'mail.example.com', distance: 10 }])
    const { page, context } = await openPage({ account, browser: o })
    await page.goto(base + '/?q=harvest.io')
    await page.getByRole('link', { name: 'Buy harvest.io' }).waitFor()
    await shoot(page, folder + 'search-' + kind)
    await page.goto(base + '/app/buy/harvest.io')
    await button(page, /^Buy for/).click()
    await connect(page)
    await heading(page, 'Before you sign').waitFor()
    await heading(page, 'Before you sign').scrollIntoViewIfNeeded()
    await shoot(page, folder + 'review-' + kind)
    await page.goto(base + '/app/names/' + name)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await button(page, 'Edit A @').waitFor()
    await shoot(page, folder + 'records-' + kind)
    await page.goto(base + '/app/account')
    await heading(page, 'Payments and refunds').waitFor()
    await shoot(page, 'states/account-' + kind)
    await page.goto(base + '/docs/names')
    await shoot(page, 'states/docs-' + kind)
    await page.goto(base + '/docs/payments')
    await page.locator('.diagram').first().scrollIntoViewIfNeeded()
    await shoot(page, 'states/diagram-' + kind)
    await page.goto(base + '/docs/')
    await shoot(page, 'states/map-' + kind)
    await page.goto(base + '/docs/api')
    await shoot(page, 'states/reference-' + kind)
    await context.close()
  }
})

test('figures: first paint, first result, layout shift', async (t) => {
  const context = await browser.newContext({ viewport: { width: 1100, height: 760 } })
  await context.addInitScript(() => {
    window.shifts = 0
    new PerformanceObserver((list) => list.getEntries().forEach((e) => (window.shifts += e.value))).observe({ type: 'layout-shift', buffered: true })
  })
  const page = await context.newPage()
  await page.goto(base)
  await page.getByLabel('Domain name').click()
  const took = await page.evaluate(async () => {
    const input = document.querySelector('#q')
    const shown = new Promise((resolve) => {
      new MutationObserver((_, o) => document.querySelector('.result') && (o.disconnect(), resolve())).observe(document.body, { childList: true, subtree: true })
    })
    const began = performance.now()
    input.value = 'harvest'
    input.dispatchEvent(new Event('input', { bubbles: true }))
    await shown
    return performance.now() - began
  })
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
  const bytes = await page.evaluate(() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].filter((e) => !e.name.includes('/domains/')).reduce((n, e) => n + e.transferSize, 0))
  const shifts = await page.evaluate(() => window.shifts)
  t.diagnostic(`first contentful paint ${Math.round(paint)} ms; first result ${Math.round(took)} ms after typing; layout shift ${shifts.toFixed(4)}; first view ${bytes} bytes with headers`)
  assert.ok(shifts < 0.05, `the layout shifts by ${shifts}`)
  await context.close()
})
