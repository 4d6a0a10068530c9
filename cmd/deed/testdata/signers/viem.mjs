import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { session } from './session.mjs'

await session(async ({ nonce, domain, uri, chainId, version }, key) => {
  const account = privateKeyToAccount(key)
  const message = createSiweMessage({ address: account.address, chainId, domain, nonce, uri, version })
  return { message, signature: await account.signMessage({ message }), address: account.address }
})

// With everything a message may have.
await session(async ({ nonce, domain, uri, chainId, version }, key) => {
  const account = privateKeyToAccount(key)
  const message = createSiweMessage({
    address: account.address, chainId, domain, nonce, uri, version,
    scheme: new URL(uri).protocol.slice(0, -1),
    statement: 'Sign in to Deed.',
    issuedAt: new Date(), expirationTime: new Date(Date.now() + 60_000), notBefore: new Date(Date.now() - 60_000),
    requestId: 'request-1', resources: ['https://deed.example/terms', 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi'],
  })
  return { message, signature: await account.signMessage({ message }), address: account.address }
})
