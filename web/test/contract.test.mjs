// Contract wallets: deployed ones (ERC-1271), and those that their first payment deploys
// (ERC-6492).
import assert from 'node:assert/strict'
import { createPublicClient, createWalletClient, encodeFunctionData, http, parseAbi, serializeErc6492Signature } from 'viem'
import { api, atOrder, axe, base, button, connect, fund, heading, newAccount, pay, picture, problem, test } from './lib.mjs'

const factory = '0xdeedfac70000000000000000000000000000fac7'
const abi = parseAbi(['function createWallet(address owner, bytes32 salt)', 'function walletOf(address owner, bytes32 salt) view returns (address)'])

/** A contract wallet of a new owner, with test money. It signs as wallet programs do. */
async function contractWallet(by = factory) {
  const { body } = await api('GET', '/sandbox')
  const transport = http(body.rpcUrl)
  const chain = createPublicClient({ transport })
  const owner = newAccount()
  const args = [owner.address, '0x' + '01'.repeat(32)]
  const address = await chain.readContract({ address: factory, abi, functionName: 'walletOf', args })
  const data = encodeFunctionData({ abi, functionName: 'createWallet', args })
  await fund(address)
  const deployed = async () => (await chain.getCode({ address })) !== undefined
  const wrap = async (signature) => ((await deployed()) ? signature : serializeErc6492Signature({ address: by, data, signature }))
  const deploy = async () => {
    await fund(owner.address) // for gas
    const hash = await createWalletClient({ account: owner, transport }).sendTransaction({ to: factory, data, chain: null })
    await chain.waitForTransactionReceipt({ hash })
  }
  const signTypedData = async (o) => wrap(await owner.signTypedData(o))
  const signMessage = async (o) => wrap(await owner.signMessage(o))
  return { account: { address, signTypedData, signMessage }, deploy, deployed }
}

for (const kind of ['deployed', 'not deployed yet']) {
  test(`a contract wallet that is ${kind} buys a name and manages it`, async () => {
    const { account, deploy, deployed } = await contractWallet()
    if (kind === 'deployed') await deploy()
    const { page, wallet, errors, context, name } = await atOrder({ account })
    await button(page, /^Buy for/).click()
    await connect(page)
    await pay(page)
    await heading(page, `${name} is yours.`).waitFor()
    assert.ok(await deployed(), 'the wallet has no code')
    assert.equal((await api('GET', '/domains/' + name)).body.walletAddress, account.address.toLowerCase())
    assert.equal(wallet.asked('eth_signTypedData_v4').length, 1)
    await page.goto(`${base}/app/names/${name}`)
    await button(page, 'Sign in').click()
    await button(page, 'Add a record').waitFor()
    assert.deepEqual(errors, [])
    await context.close()
  })
}

test('a contract wallet that is not deployed yet signs in', async () => {
  const { account, deployed } = await contractWallet()
  const { page, context } = await atOrder({ account })
  await page.goto(base + '/app/account')
  await button(page, 'Connect and sign in').click()
  await connect(page)
  await page.getByText('No payments yet.').waitFor()
  assert.equal(await deployed(), false, 'a sign-in deployed the wallet')
  await context.close()
})

test('a wallet that the service does not deploy is told what to do', async () => {
  const { account, deploy } = await contractWallet('0x00000000000000000000000000000000000000fa')
  const { page, context, name } = await atOrder({ account })
  await button(page, /^Buy for/).click()
  await connect(page)
  await pay(page)
  await problem(page, 'undeployed').waitFor()
  await axe(page, 'an undeployed wallet')
  await picture(page, 'undeployed')
  await deploy()
  await button(page, /^Buy for/).click()
  await pay(page)
  await heading(page, `${name} is yours.`).waitFor()
  await context.close()
})
