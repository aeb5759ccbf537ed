import { generateKeyPairSync, sign } from 'node:crypto'
import { readJwkSet, type PublicJwk } from '../formats/jwk-set.ts'
import type { Ir } from '../ir/resources.ts'

/** The fields of policies with tokens that matter here. */
interface TokenPolicy {
  readonly issuer: string
  readonly audiences?: readonly string[] | undefined
  jwks?: { inline?: PublicJwk[] | undefined } | undefined
}

/** Signs the tokens of a run with a key that exists only during the run, and makes a config trust the key. */
export class TrustedIssuer {
  readonly #privateKey
  readonly #jwk: PublicJwk

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#privateKey = privateKey
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig' }
    const read = readJwkSet(JSON.stringify({ keys: [jwk] }))
    const key = 'keys' in read ? read.keys[0] : undefined
    if (key === undefined) throw new Error('the key of the run cannot be read')
    this.#jwk = key
  }

  /**
   * Adds the key to every policy that verifies tokens. Key sets that would be fetched are replaced, because a test
   * fetches nothing. The parts of the config stay the same objects, so that they can still be located.
   */
  trustIn(ir: Ir): void {
    for (const policy of policiesIn(ir)) {
      policy.jwks = { inline: [...(policy.jwks?.inline ?? []), this.#jwk] }
    }
  }

  /**
   * Signs a token with the given claims. Absent `iss`, `aud`, `iat` and `exp` are set to fit the first policy of the
   * config; a claim with the value undefined is left out.
   */
  token(claims: Readonly<Record<string, unknown>>, ir: Ir, now: number): string {
    const seconds = Math.floor(now / 1000)
    const policies = policiesIn(ir)
    const policy = policies.find(({ issuer }) => issuer === claims['iss']) ?? policies[0]
    const audience = policy?.audiences?.[0]
    const payload = {
      ...(policy !== undefined && { iss: policy.issuer }),
      ...(audience !== undefined && { aud: audience }),
      ...{ iat: seconds, exp: seconds + 3_600 },
      ...claims,
    }
    const head = part({ alg: 'ES256', typ: 'JWT', kid: KEY_ID })
    const signed = `${head}.${part(payload)}`
    const signature = sign('sha256', Buffer.from(signed), { key: this.#privateKey, dsaEncoding: 'ieee-p1363' })
    return `${signed}.${signature.toString('base64url')}`
  }
}

function policiesIn({ policies }: Ir): TokenPolicy[] {
  return policies.flatMap(({ traffic }) => [
    ...(traffic?.jwtAuthentication?.providers ?? []),
    ...(traffic?.mcpAuthentication === undefined ? [] : [traffic.mcpAuthentication]),
  ])
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

const KEY_ID = 'portico-test-run'
