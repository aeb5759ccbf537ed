/** JSON Web Key Sets (RFC 7517) of configs and identity providers, limited to keys that can verify a signature. */

/** A public key with the algorithms that it may be used with. The key decides the algorithms, never the token. */
export interface PublicJwk {
  kid: string | null
  algorithms: readonly string[]
  /** The members that make up the key, for `createPublicKey`. */
  members: { kty: string; crv?: string; n?: string; e?: string; x?: string; y?: string }
}

export type JwkSet = { keys: PublicJwk[] } | { fault: string }

/** Leaves out keys of other kinds: symmetric keys, encryption keys, unknown curves, RSA below 2048 bits. */
export function readJwkSet(text: string): JwkSet {
  let set: unknown
  try {
    set = JSON.parse(text)
  } catch {
    return { fault: 'text that is not JSON' }
  }
  const keys = member(set, 'keys')
  if (!Array.isArray(keys)) return { fault: 'no list `keys`' }
  if (keys.length > MAX_KEYS) return { fault: `more than ${MAX_KEYS} keys` }
  const usable = keys.map(readKey).filter((key) => key !== null)
  return usable.length === 0 ? { fault: 'no key that can verify signatures' } : { keys: usable }
}

function readKey(jwk: unknown): PublicJwk | null {
  const use = member(jwk, 'use')
  if (use !== undefined && use !== 'sig') return null
  const operations = member(jwk, 'key_ops')
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return null
  const kid = member(jwk, 'kid')
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > MAX_KID)) return null
  const kind = kindOf(jwk)
  if (kind === null) return null
  const alg = member(jwk, 'alg')
  if (alg !== undefined && !kind.algorithms.some((known) => known === alg)) return null
  const algorithms = typeof alg === 'string' ? [alg] : kind.algorithms
  return { kid: kid ?? null, algorithms, members: kind.members }
}

function kindOf(jwk: unknown): Pick<PublicJwk, 'algorithms' | 'members'> | null {
  const text = (name: string): string | null => base64url(member(jwk, name))
  switch (member(jwk, 'kty')) {
    case 'RSA': {
      const [n, e] = [text('n'), text('e')]
      if (n === null || e === null || n.length < MIN_MODULUS) return null
      return { algorithms: RSA, members: { kty: 'RSA', n, e } }
    }
    case 'EC': {
      const crv = member(jwk, 'crv')
      const algorithms = typeof crv === 'string' ? EC.get(crv) : undefined
      const [x, y] = [text('x'), text('y')]
      if (algorithms === undefined || x === null || y === null) return null
      return { algorithms, members: { kty: 'EC', crv: String(crv), x, y } }
    }
    case 'OKP': {
      const x = text('x')
      if (member(jwk, 'crv') !== 'Ed25519' || x === null) return null
      return { algorithms: ED25519, members: { kty: 'OKP', crv: 'Ed25519', x } }
    }
    default:
      return null
  }
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

function base64url(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z0-9_-]{1,2800}$/.test(value) ? value : null
}

const MAX_KEYS = 256
const MAX_KID = 1024
/** 2048 bits in base64url. */
const MIN_MODULUS = 341
const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const
const EC: ReadonlyMap<string, readonly string[]> = new Map([
  ['P-256', ['ES256']],
  ['P-384', ['ES384']],
  ['P-521', ['ES512']],
])
const ED25519 = ['EdDSA', 'Ed25519'] as const
