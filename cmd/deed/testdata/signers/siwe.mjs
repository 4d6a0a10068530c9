import { Wallet } from 'ethers'
import { SiweMessage } from 'siwe'
import { session } from './session.mjs'

for (const statement of [undefined, 'Sign in to Deed.']) {
  await session(async ({ nonce, domain, uri, chainId, version }, key) => {
    const wallet = new Wallet(key)
    const message = new SiweMessage({ address: wallet.address, chainId, domain, nonce, uri, version, statement }).prepareMessage()
    return { message, signature: await wallet.signMessage(message), address: wallet.address }
  })
}
