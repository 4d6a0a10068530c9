// Compiles the contracts beside this file and writes one JSON file each, with
// its ABI, its creation code and the runtime code:
//
//   npm ci && npm run compile          into this directory
//   npm run compile -- OTHER_DIRECTORY    to compare
//
// The settings leave out everything that varies from machine to machine
// (paths, metadata), so the same sources give the same bytes everywhere.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

const here = dirname(fileURLToPath(import.meta.url))
const names = ['USDC', 'Multicall', 'Wallet', 'WalletFactory', 'SignatureCheck', 'CodeCheck']
const out = process.argv[2] ?? here

const sources = {}
for (const file of readdirSync(here).filter((f) => f.endsWith('.sol')).sort()) {
  sources[file] = { content: readFileSync(join(here, file), 'utf8') }
}

const compiled = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: 'Solidity',
      sources,
      settings: {
        evmVersion: 'cancun',
        viaIR: true,
        optimizer: { enabled: true, runs: 10000 },
        metadata: { appendCBOR: false, bytecodeHash: 'none' },
        outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
      },
    }),
  ),
)

for (const e of compiled.errors ?? []) console.error(e.formattedMessage)
if (!compiled.contracts || compiled.errors?.some((e) => e.severity === 'error')) process.exit(1)

for (const contracts of Object.values(compiled.contracts)) {
  for (const [name, c] of Object.entries(contracts)) {
    if (!names.includes(name)) continue // an interface or a library: no code of its own
    const art = { abi: c.abi, create: '0x' + c.evm.bytecode.object, code: '0x' + c.evm.deployedBytecode.object }
    writeFileSync(join(out, name + '.json'), JSON.stringify(art, null, 1) + '\n')
  }
}
