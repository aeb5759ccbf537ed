// An RS256 token, and the key set that its issuer would publish.
import { generateKeyPairSync, sign } from 'node:crypto'

export const ISSUER = 'https://idp.bench.test/'

/** @returns {{ token: string, jwks: string }} valid for a day */
export function makeToken() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'RS256', use: 'sig' }
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: ISSUER, sub: 'u1', aud: 'api', iat: now, exp: now + 86_400, groups: ['admin', 'dev'] }
  const signed = [{ alg: 'RS256', kid: 'bench', typ: 'JWT' }, claims].map(encode).join('.')
  const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64url')
  return { token: `${signed}.${signature}`, jwks: JSON.stringify({ keys: [key] }) }
}

function encode(part) {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
