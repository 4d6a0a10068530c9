// `deed login --browser`: the real command, signed in by the wallet of a browser.
import assert from 'node:assert/strict'
import { newHome } from './home.mjs'
import { axe, base, button, buyName, connect, heading, newAccount, newName, openPage, picture, problem, test } from './lib.mjs'

test('the command line: another account, declined, signed in, opened twice', async () => {
  const account = newAccount()
  const name = newName()
  await buyName(account, name)
  const home = newHome()
  const login = home.run('login', '--browser', '--wallet', account.address)
  const { page, wallet, errors, context } = await openPage() // with another account
  await page.goto(await login.address)
  await axe(page, 'the sign-in of the command line')
  await picture(page, 'terminal')
  await button(page, 'Connect and sign in').click()
  await connect(page)
  await problem(page, 'account').waitFor()
  assert.ok(await button(page, 'Sign in').isDisabled())
  await axe(page, 'another account than that of the command line')
  await picture(page, 'terminal-account')
  await wallet.switchTo(page, account)
  wallet.refuse.add('personal_sign')
  await button(page, 'Sign in').click()
  await problem(page, 'refused').waitFor()
  await axe(page, 'a sign-in of the command line that was declined')
  wallet.refuse.clear()

  const second = await context.newPage() // opened twice
  await second.goto(await login.address)
  await button(second, 'Sign in').waitFor()
  await button(page, 'Sign in').click()
  await heading(page, 'The command line is signed in').waitFor()
  assert.equal(page.url(), base + '/app/login?result=done', 'the signature stays in the address')
  await axe(page, 'the command line is signed in')
  await picture(page, 'terminal-done')
  await second.getByText('This address has been used.').waitFor()
  await second.reload()
  await second.getByText('This address has been used.').waitFor()
  await axe(second, 'an address that was used')
  await picture(second, 'terminal-used')
  assert.deepEqual(errors, [])

  const { code, out } = await login.ended
  assert.equal(code, 0)
  assert.match(out, new RegExp(account.address, 'i'))
  const [text, signer] = wallet.asked('personal_sign').at(-1).params
  assert.equal(signer, account.address)
  assert.match(Buffer.from(text.slice(2), 'hex').toString(), /^127\.0\.0\.1:\d+ wants you to sign in .* This costs nothing and moves no money\./s)
  const names = await home.run('domain', 'ls', '--wallet', account.address).ended
  assert.equal(names.code, 0, names.err)
  assert.match(names.out, new RegExp('^' + name + '\t', 'm'), 'the session does not work')
  await context.close()
  home.remove()
})
