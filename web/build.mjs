// Builds the page into internal/web/dist: the files with hashes in their names,
// each also compressed with brotli, and entries.json, which names them.
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'vite'

const out = new URL(process.argv[2] ?? '../internal/web/dist/', import.meta.url)
await build({ configFile: new URL('vite.config.mjs', import.meta.url).pathname, build: { outDir: out.pathname }, logLevel: 'warn' })

const manifest = JSON.parse(readFileSync(new URL('manifest.json', out)))
rmSync(new URL('manifest.json', out))
const icon = readFileSync(new URL('src/icon.svg', import.meta.url))
writeFileSync(new URL(`assets/icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`, out), icon)
const files = readdirSync(new URL('assets/', out)).filter((name) => !name.endsWith('.br'))
// The licences of what is in the files ask for their texts.
const licences = ['svelte', '@noble/hashes', 'clsx', 'esm-env'].map((name) => {
  const folder = new URL(`node_modules/${name}/`, import.meta.url)
  const file = readdirSync(folder).find((f) => /^licen[sc]e/i.test(f))
  return `${name}\n\n${readFileSync(new URL(file, folder), 'utf8').trim()}\n`
})
writeFileSync(new URL('LICENSES.txt', out), licences.join('\n\n'))
const entries = {
  script: '/' + manifest['src/main.ts'].file,
  reader: '/' + manifest['src/docs.ts'].file,
  style: '/assets/' + files.find((name) => name.endsWith('.css')),
  icon: '/assets/' + files.find((name) => name.endsWith('.svg')),
}
writeFileSync(new URL('entries.json', out), JSON.stringify(entries, null, 2) + '\n')
for (const name of files) {
  const raw = readFileSync(new URL('assets/' + name, out))
  writeFileSync(new URL('assets/' + name + '.br', out), brotliCompressSync(raw, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: raw.length } }))
}
