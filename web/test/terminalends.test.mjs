// Sign-ins of the command line that fail.
import assert from 'node:assert/strict'
import { newHome } from './home.mjs'
import { axe, base, button, connect, heading, newAccount, openPage, picture, test } from './lib.mjs'

test('the command line: expired, not complete, and a signature that is refused', async () => {
  const home = newHome()
  const late = home.run('login', '--browser')
  const opened = await openPage()
  await opened.page.clock.install()
  await opened.page.goto(await late.address)
  await button(opened.page, 'Connect and sign in').waitFor()
  await opened.page.clock.fastForward('10:01')
  await opened.page.getByText('This address has expired.').waitFor()
  await axe(opened.page, 'an address that has expired')
  await picture(opened.page, 'terminal-expired')
  await opened.page.goto(base + '/app/login')
  await opened.page.getByText('This address is not complete.').waitFor()
  await opened.context.close()
  late.interrupt()
  assert.equal((await late.ended).code, 130)

  const { signMessage } = newAccount() // of another key
  const login = home.run('login', '--browser')
  const { page, context } = await openPage({ account: { ...newAccount(), signMessage } })
  await page.goto(await login.address)
  await button(page, 'Connect and sign in').click()
  await connect(page)
  await heading(page, 'The command line is not signed in').waitFor()
  await axe(page, 'a sign-in of the command line that failed')
  await picture(page, 'terminal-failed')
  const { code, err } = await login.ended
  assert.equal(code, 2, err)
  assert.match(err, /did not sign this message/)
  assert.equal((await home.run('whoami').ended).code, 3)
  await context.close()
  home.remove()
})
