// `deed login --browser`: the real command, signed in by the wallet of a browser.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { axe, base, button, buyName, connect, heading, newAccount, newName, openPage, picture, problem, test } from './lib.mjs'

/** A home with its own configuration folder. It runs commands. */
function newHome() {
  const home = mkdtempSync(join(tmpdir(), 'deed-home-'))
  const env = { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, DEED_SERVER: base, BROWSER: 'true' } // true opens nothing
  const run = (...args) => {
    const child = spawn(process.env.DEED_BINARY, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let err = ''
    child.stdout.on('data', (text) => (out += text))
    const ended = new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })))
    const address = new Promise((resolve, reject) => {
      child.stderr.on('data', (text) => {
        err += text
        const found = /^sign in at (\S+)\n/m.exec(err)
        if (found) resolve(found[1])
      })
      void ended.then(() => reject(new Error(`deed ${args.join(' ')} printed no address: ${err}`)))
    })
    address.catch(() => {}) // not every command prints one
    return { address, ended, interrupt: () => child.kill('SIGINT') }
  }
  return { run, remove: () => rmSync(home, { recursive: true }) }
}

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
