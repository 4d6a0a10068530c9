// What Chromium measures, on the sandbox.
import assert from 'node:assert/strict'
import { alone, base, browser, button, connect, fund, heading, newAccount, newName, openPage, pay } from './lib.mjs'

alone('figures: from an empty page to an owned name', async (t) => {
  const account = newAccount()
  await fund(account.address)
  const { page, wallet, context } = await openPage({ account })
  const name = newName()
  const began = performance.now()
  await page.goto(base)
  await page.getByLabel('Domain name').fill(name)
  await page.getByRole('link', { name: `Buy ${name}` }).click()
  const chosen = performance.now()
  await button(page, /^Buy for/).click()
  await connect(page)
  await pay(page)
  await heading(page, `${name} is yours.`).waitFor()
  const ended = performance.now()
  t.diagnostic(`an empty page to an owned name: ${Math.round(ended - began)} ms, of which ${Math.round(ended - chosen)} ms from the choice of the name; ${wallet.asked('eth_signTypedData_v4').length} signature`)
  await context.close()
})

alone('figures: first paint, first result, layout shift', async (t) => {
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
