import { createHash, createHmac, hash, randomBytes } from 'node:crypto'
import { TrustedIssuer } from '../config-tests/trusted-issuer.ts'
import { REDACTED } from '../redaction/secret-names.ts'
import type { Ir } from '../ir/resources.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { type CredentialLocation, policiesOf } from '../config-tests/credential-policies.ts'

/** A credential that replaces the client's own, which records do not hold. */
export interface StandIn {
  readonly location: CredentialLocation
  readonly text: string
}

/**
 * Makes stand-in credentials, which a config accepts exactly when it accepts the recorded credential. In both configs,
 * a keyed hash replaces each API key and each password, and an own signing key replaces the keys of issuers. Stand-ins
 * reveal nothing about credentials, because a rule of a config under test may read them.
 */
export class StandIns {
  readonly #issuer = new TrustedIssuer()
  readonly #after: Ir
  readonly #keyByName = new Map<string, string | null>()
  readonly #passwordByName = new Map<string, string | null>()
  readonly #locations: Readonly<Record<'jwt' | 'apiKey' | 'basic', CredentialLocation | null>>
  /** The token issuers whose signing keys are the same in both configs. */
  readonly #sameIssuers: ReadonlySet<string>
  readonly #tokens = new Map<string, string>()
  readonly #hashKey = randomBytes(32)
  /** The stand-in keys, to recognize config entries that were replaced before. */
  readonly #keys = new Set<string>()

  /** Replaces the credentials in both configs. Without the config of the records, no credential can be replaced. */
  constructor(before: Ir | null, after: Ir) {
    this.#after = after
    this.#sameIssuers = before === null ? new Set() : sameIssuers(before, after)
    if (before !== null) {
      const { apiKeys, basic } = policiesOf(before)
      for (const [name, entry] of apiKeys.flatMap(({ entries }) => entries))
        note(this.#keyByName, name, this.#keyFor(entry))
      for (const user of basic.flatMap(({ users }) => users))
        note(this.#passwordByName, user.username, this.#textFor(user.hash))
    }
    this.#locations = before === null ? { jwt: null, apiKey: null, basic: null } : locationsOf(before)
    for (const ir of before === null ? [after] : [before, after]) this.#replaceIn(ir)
  }

  /**
   * Returns the stand-in for the client of a record; null for a client without a credential, and for one whose
   * credential cannot be replaced.
   */
  of({ variables, key }: RequestRecord): StandIn | null {
    const claims = variables?.['jwt']
    if (claims !== undefined) return this.#token(claims)
    if (key === null) return null
    const apiKey = this.#keyByName.get(key)
    if (apiKey !== undefined) return standIn(this.#locations.apiKey, apiKey)
    const password = this.#passwordByName.get(key)
    if (password === undefined || password === null) return null
    return standIn(this.#locations.basic, Buffer.from(`${key}:${password}`).toString('base64'))
  }

  #token(claims: unknown): StandIn | null {
    const text = JSON.stringify(claims)
    const { iss, unkept } = claims as { iss?: unknown; unkept?: unknown }
    if (unkept !== undefined || text.includes(REDACTED) || typeof iss !== 'string') return null
    if (!this.#sameIssuers.has(iss)) return null
    let token = this.#tokens.get(text)
    if (token === undefined) {
      // `token` adds `iat`, `exp` and `aud` to claims without them; `NO_CLAIMS` prevents this, because the recorded
      // token may lack them.
      token = this.#issuer.token({ ...NO_CLAIMS, ...(claims as object) }, this.#after, 0)
      this.#tokens.set(text, token)
    }
    return standIn(this.#locations.jwt, token)
  }

  #replaceIn(ir: Ir): void {
    this.#issuer.trustIn(ir)
    const { apiKeys, basic } = policiesOf(ir)
    for (const { entries } of apiKeys) {
      for (const [, entry] of entries) {
        entry.key = this.#keyFor(entry)
        delete entry.keyHash
      }
    }
    for (const user of new Set(basic.flatMap(({ users }) => users))) {
      user.hash = `{SHA}${createHash('sha1').update(this.#textFor(user.hash)).digest('base64')}`
    }
  }

  #keyFor({ key, keyHash }: { key?: string | undefined; keyHash?: string | undefined }): string {
    if (key !== undefined && this.#keys.has(key)) return key
    const made = this.#textFor(keyHash?.slice('sha256:'.length) ?? hash('sha256', key ?? '', 'hex'))
    this.#keys.add(made)
    return made
  }

  #textFor(secret: string): string {
    return `stand-in-${createHmac('sha256', this.#hashKey).update(secret).digest('hex')}`
  }
}

/** Notes the stand-in of a name, or null when two credentials have the same name and cannot be told apart. */
function note(byName: Map<string, string | null>, name: string, text: string): void {
  const known = byName.get(name)
  byName.set(name, known === undefined || known === text ? text : null)
}

function standIn(location: CredentialLocation | null, text: string | null): StandIn | null {
  return location === null || text === null ? null : { location, text }
}

const NO_CLAIMS = { iat: undefined, exp: undefined, aud: undefined }
const BEARER: CredentialLocation = { header: { name: 'authorization', prefix: 'Bearer ' } }
const BASIC: CredentialLocation = { header: { name: 'authorization', prefix: 'Basic ' } }

/** Returns where requests carry each kind of credential; null when routes differ in it. */
function locationsOf(ir: Ir): Record<'jwt' | 'apiKey' | 'basic', CredentialLocation | null> {
  const { tokens, apiKeys, basic } = policiesOf(ir)
  const only = (
    policies: readonly { location?: CredentialLocation | undefined }[],
    fallback: CredentialLocation,
  ): CredentialLocation | null => {
    const [first, ...others] = new Map(
      policies.map(({ location = fallback }) => [JSON.stringify(location), location]),
    ).values()
    return others.length > 0 ? null : (first ?? null)
  }
  return { jwt: only(tokens, BEARER), apiKey: only(apiKeys, BEARER), basic: only(basic, BASIC) }
}

function sameIssuers(before: Ir, after: Ir): ReadonlySet<string> {
  const keysIn = (ir: Ir): Map<string, Set<string>> => {
    const found = new Map<string, Set<string>>()
    for (const { issuer, jwks } of policiesOf(ir).tokens.flatMap(({ providers }) => providers)) {
      found.set(issuer, (found.get(issuer) ?? new Set()).add(JSON.stringify(jwks ?? null)))
    }
    return found
  }
  const [old, now] = [keysIn(before), keysIn(after)]
  const isSame = (keys: ReadonlySet<string>, others: ReadonlySet<string> | undefined): boolean =>
    others === undefined || keys.union(others).size === 1
  return new Set([...old].filter(([issuer, keys]) => isSame(keys, now.get(issuer))).map(([issuer]) => issuer))
}
