// compare.mjs BUILT COMMITTED: fails if two builds of the page differ.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

const [built, committed] = process.argv.slice(2)
const list = (dir) => readdirSync(dir, { recursive: true, withFileTypes: true }).filter((f) => f.isFile()).map((f) => join(f.parentPath ?? f.path, f.name).slice(dir.length)).map((f) => f.replace(/^\//, '')).sort()
const read = (dir, file) => (file.endsWith('.br') ? brotliDecompressSync(readFileSync(join(dir, file))) : readFileSync(join(dir, file)))

const files = list(built)
const wrong = [...files.filter((f) => !list(committed).includes(f)), ...list(committed).filter((f) => !files.includes(f))]
wrong.push(...files.filter((f) => !wrong.includes(f) && !read(built, f).equals(read(committed, f))))
if (wrong.length) {
  console.error('internal/web/dist is not what web builds to. Run npm run build in the folder web. Different:\n  ' + [...new Set(wrong)].join('\n  '))
  process.exit(1)
}
const first = ['.js.br', '.css.br', '.svg.br'].map((end) => readFileSync(join(committed, files.filter((f) => f.endsWith(end) && !f.includes('docs-'))[0])).length)
console.log(`${files.length} files are the same; the first view has ${first.reduce((a, b) => a + b)} bytes in brotli, without its HTML`)
