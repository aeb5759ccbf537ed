import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { SignJWT, type JWTPayload } from 'jose'

interface KeyPair {
  privateKey: KeyObject
  publicKey: KeyObject
}

/** A signing key of an issuer, made for a test. */
export interface SigningKey extends KeyPair {
  kid: string
  alg: string
  /** As it stands in a key set. */
  jwk: object
}

/** Making an RSA pair takes long: tests that do not compare keys use one `pair` for several. */
export function createSigningKey(kid: string, alg = 'ES256', pair: KeyPair = makePair(alg)): SigningKey {
  const { privateKey, publicKey } = pair
  return { kid, alg, privateKey, publicKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } }
}

export function keySetOf(...keys: SigningKey[]): string {
  return JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })
}

/** A token of `https://issuer.test/` for an hour; claims of undefined are left out. */
export function sign(key: SigningKey, claims: JWTPayload = {}, header: Record<string, unknown> = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const payload = { iss: ISSUER, sub: 'alice', exp: now + 3600, ...claims }
  return new SignJWT(withoutUnset(payload))
    .setProtectedHeader({ alg: key.alg, ...withoutUnset({ kid: key.kid, ...header }) })
    .sign(key.privateKey)
}

export const ISSUER = 'https://issuer.test/'

/** A token put together by hand, for headers and signatures that no library would make. */
export function forge(header: object, payload: object, signature: Buffer | string = ''): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part(header)}.${part(payload)}.${Buffer.from(signature).toString('base64url')}`
}

function withoutUnset<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T
}

function makePair(alg: string): KeyPair {
  switch (alg) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 'ES384':
      return generateKeyPairSync('ec', { namedCurve: 'P-384' })
    case 'ES512':
      return generateKeyPairSync('ec', { namedCurve: 'P-521' })
    case 'EdDSA':
      return generateKeyPairSync('ed25519')
    default:
      return generateKeyPairSync('rsa', { modulusLength: 2048 })
  }
}
