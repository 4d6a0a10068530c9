import { Wallet } from 'ethers'
import { session } from './session.mjs'

await session(async ({ nonce, domain, uri, chainId, version }, key) => {
  const wallet = new Wallet(key)
  const message = [
    `${domain} wants you to sign in with your Ethereum account:`,
    wallet.address,
    '',
    '',
    `URI: ${uri}`,
    `Version: ${version}`,
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${new Date().toISOString()}`,
  ].join('\n')
  return { message, signature: await wallet.signMessage(message), address: wallet.address }
})
