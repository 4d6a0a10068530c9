// What every signer has in common: ask for a nonce, have the message made and
// signed, and use the tokens through the whole life of a session.
import assert from 'node:assert/strict'

const [base, key] = process.argv.slice(2)

async function call(method, path, { body, token } = {}) {
  const headers = {}
  if (body) headers['content-type'] = 'application/json'
  if (token) headers.authorization = `Bearer ${token}`
  const res = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) })
  return { status: res.status, body: await res.json() }
}

// session takes a function from the values of GET /auth/nonce and the key to a
// message, its signature and the wallet's address.
export async function session(makeAndSign) {
  const nonce = await call('GET', '/auth/nonce')
  assert.equal(nonce.status, 200)
  const { message, signature, address } = await makeAndSign(nonce.body, key)

  const signedIn = await call('POST', '/auth/verify', { body: { message, signature } })
  assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body))
  assert.equal(signedIn.body.walletAddress, address.toLowerCase())
  assert.equal((await call('POST', '/auth/verify', { body: { message, signature } })).status, 400)

  const refreshed = await call('POST', '/auth/refresh', { body: { refreshToken: signedIn.body.refreshToken } })
  assert.equal(refreshed.status, 200)
  assert.deepEqual(Object.keys(refreshed.body).sort(), ['accessToken', 'refreshToken'])

  const token = refreshed.body.accessToken
  assert.notEqual((await call('GET', '/account', { token })).status, 401)
  assert.equal((await call('POST', '/auth/revoke', { token })).body.revoked, 1)
  assert.equal((await call('GET', '/account', { token })).body.code, 'TOKEN_INVALID')
  console.log(`${address} signed in, refreshed and revoked`)
}
