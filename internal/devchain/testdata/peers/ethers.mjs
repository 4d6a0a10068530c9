// ethers, as scripts use it:
//
//   node ethers.mjs RPC_URL PRIVATE_KEY FOLDER_OF_CONTRACTS
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Contract, ContractFactory, JsonRpcProvider, Wallet } from 'ethers'

const [url, key, folder] = process.argv.slice(2)
const contract = (name) => JSON.parse(readFileSync(join(folder, name + '.json'), 'utf8'))
const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 50, cacheTimeout: -1 }) // its cache of nonces is slower than our blocks
const wallet = new Wallet(key, provider)
const usdc = new Contract('0x036CbD53842c5426634e7929541eC2318f3dCF7e', contract('USDC').abi, wallet)

assert.equal((await provider.getNetwork()).chainId, 84532n)
const block = await provider.getBlock('latest', true)
assert.ok(block.number > 0 && block.prefetchedTransactions.length > 0)
assert.ok((await provider.getFeeData()).maxFeePerGas > 0n)

const made = contract('Wallet')
const deployed = await new ContractFactory(made.abi, made.create, wallet).deploy(wallet.address)
await deployed.waitForDeployment()
assert.equal(await deployed.owner(), wallet.address)

const other = Wallet.createRandom().address
const receipt = await (await usdc.transfer(other, 25n)).wait()
assert.equal(receipt.status, 1)
assert.equal(await usdc.balanceOf(other), 25n)
const events = await usdc.queryFilter(usdc.filters.Transfer(null, other), 0)
assert.equal(events.length, 1)
assert.equal(events[0].transactionHash, receipt.hash)
await assert.rejects(usdc.transfer.staticCall(other, 10n ** 30n), { code: 'CALL_EXCEPTION', reason: 'ERC20: transfer amount exceeds balance' })
await assert.rejects(wallet.sendTransaction({ to: other, nonce: 0, gasLimit: 21000 }), { code: 'NONCE_EXPIRED' })

provider.destroy()
console.log('ethers is content')
