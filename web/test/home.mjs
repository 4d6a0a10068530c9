// Runs commands of the real binary.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { base } from './lib.mjs'

/** A home with its own configuration folder. It runs commands. */
export function newHome() {
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
