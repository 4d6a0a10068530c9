// viem, as wallets and payment clients use it:
//
//   node viem.mjs RPC_URL PRIVATE_KEY FOLDER_OF_CONTRACTS
//
// The key's account has test USDC and ETH. Whatever is not as it should be throws.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as viem from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'

const [url, key, folder] = process.argv.slice(2)
const contract = (name) => JSON.parse(readFileSync(join(folder, name + '.json'), 'utf8'))
const account = privateKeyToAccount(key)
const usdc = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const factory = '0xDeedfAC70000000000000000000000000000FAC7'.toLowerCase()
const token = { address: usdc, abi: contract('USDC').abi }

const transport = viem.http(url, { batch: true, retryCount: 0 })
const client = viem.createPublicClient({ chain: baseSepolia, transport, pollingInterval: 50, cacheTime: 0 })
const wallet = viem.createWalletClient({ account, chain: baseSepolia, transport })
const mined = async (hash) => {
  const receipt = await client.waitForTransactionReceipt({ hash })
  assert.equal(receipt.status, 'success')
  return receipt
}

// Blocks and fees.
assert.equal(await client.getChainId(), 84532)
const genesis = await client.getBlock({ blockTag: 'earliest' })
assert.equal(genesis.number, 0n)
for (const blockTag of ['latest', 'safe', 'finalized']) {
  const block = await client.getBlock({ blockTag, includeTransactions: true })
  assert.ok(block.number > 0n && block.transactions.length > 0 && block.transactions[0].hash)
  assert.ok(Math.abs(Number(block.timestamp) - Date.now() / 1000) < 3600)
}
assert.equal((await client.getBlock({ blockTag: 'pending' })).hash, null)
const fees = await client.estimateFeesPerGas()
assert.ok(fees.maxFeePerGas > fees.maxPriorityFeePerGas)
assert.equal((await client.getFeeHistory({ blockCount: 2, rewardPercentiles: [50] })).reward.length, 2)

// Plain transactions of every kind.
const other = privateKeyToAccount(generatePrivateKey())
for (const type of ['legacy', 'eip2930', 'eip1559']) {
  const hash = await wallet.sendTransaction({ to: other.address, value: 7n, type })
  const receipt = await mined(hash)
  assert.equal(receipt.type, type)
  const tx = await client.getTransaction({ hash })
  assert.equal(tx.type, type)
  assert.equal(tx.from.toLowerCase(), account.address.toLowerCase())
  assert.equal(await client.getTransactionConfirmations({ hash }), 1n)
}
assert.equal(await client.getBalance({ address: other.address }), 21n)
const low = wallet.sendTransaction({ to: other.address, nonce: 0, gas: 21000n })
await assert.rejects(low, (e) => e.walk((c) => c instanceof viem.NonceTooLowError) !== null)
const poor = viem.createWalletClient({ account: other, chain: baseSepolia, transport })
await assert.rejects(
  poor.sendTransaction({ to: account.address, value: viem.parseEther('1'), gas: 21000n }),
  (e) => e.walk((c) => c instanceof viem.InsufficientFundsError) !== null,
)

// Contracts: deploy, read, read many, write, refuse.
const made = contract('Wallet')
const deployed = await mined(await wallet.deployContract({ abi: made.abi, bytecode: made.create, args: [account.address] }))
assert.ok(viem.isAddress(deployed.contractAddress))
const owner = await client.readContract({ address: deployed.contractAddress, abi: made.abi, functionName: 'owner' })
assert.equal(owner, account.address)
const [name, version, decimals] = await client.multicall({
  contracts: ['name', 'version', 'decimals'].map((functionName) => ({ ...token, functionName })),
  allowFailure: false,
})
assert.deepEqual([name, version, decimals], ['USDC', '2', 6])
const tooMuch = client.simulateContract({ ...token, account, functionName: 'transfer', args: [other.address, 10n ** 30n] })
await assert.rejects(tooMuch, /ERC20: transfer amount exceeds balance/)

// A payment by signature, and its logs.
const message = {
  from: account.address,
  to: other.address,
  value: 1500n,
  validAfter: 0n,
  validBefore: BigInt(Math.floor(Date.now() / 1000) + 300),
  nonce: viem.keccak256(generatePrivateKey()),
}
const signature = await account.signTypedData({
  domain: { name, version, chainId: 84532, verifyingContract: usdc },
  types: {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  primaryType: 'TransferWithAuthorization',
  message,
})
const args = [...Object.values(message), signature]
const paid = await mined(await wallet.writeContract({ ...token, functionName: 'transferWithAuthorization', args }))
const logs = await client.getContractEvents({
  ...token,
  eventName: 'Transfer',
  args: { to: other.address },
  fromBlock: 'earliest',
  strict: true,
})
assert.deepEqual(logs.map((l) => [l.transactionHash, l.args.value]), [[paid.transactionHash, 1500n]])
assert.equal(viem.parseEventLogs({ abi: token.abi, logs: paid.logs })[0].eventName, 'AuthorizationUsed')
await assert.rejects(
  client.simulateContract({ ...token, account, functionName: 'transferWithAuthorization', args }),
  /authorization is used or canceled/,
)

// Signatures of wallets made of code: there already (ERC-1271), and not yet (ERC-6492).
const makers = { address: factory, abi: contract('WalletFactory').abi }
const salt = viem.keccak256(generatePrivateKey())
const address = await client.readContract({ ...makers, functionName: 'walletOf', args: [account.address, salt] })
const hello = 'sign in'
const signed = await account.signMessage({ message: hello })
assert.equal(await client.verifyMessage({ address: deployed.contractAddress, message: hello, signature: signed }), true)
const data = viem.encodeFunctionData({ abi: makers.abi, functionName: 'createWallet', args: [account.address, salt] })
const wrapped = viem.serializeErc6492Signature({ address: factory, data, signature: signed })
assert.equal(await client.verifyMessage({ address, message: hello, signature: wrapped }), true)
assert.equal(await client.verifyMessage({ address, message: 'sign out', signature: wrapped }), false)
assert.equal(await client.getCode({ address }), undefined)

// A plain account borrows code (EIP-7702).
const authorization = await wallet.signAuthorization({ contractAddress: deployed.contractAddress, executor: 'self' })
await mined(await wallet.sendTransaction({ to: account.address, authorizationList: [authorization] }))
assert.equal(await client.getCode({ address: account.address }), viem.concatHex(['0xef0100', deployed.contractAddress]).toLowerCase())

console.log('viem is content')
