import type { Ir } from '../ir/resources.ts'
import { policiesOf } from './credential-policies.ts'
import type { HashStandIns } from './hash-stand-ins.ts'
import type { GivenClient } from './schema.ts'
import type { TrustedIssuer } from './trusted-issuer.ts'

/** A credential that the config cannot check, in words. */
export class UnusableCredential extends Error {}

interface Location {
  readonly header?: { readonly name: string; readonly prefix?: string | undefined } | undefined
  readonly queryParameter?: { readonly name: string } | undefined
  readonly cookie?: { readonly name: string } | undefined
}

/** The parts of a request that carry the credentials of a client. */
export interface CarriedCredentials {
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Parameters of the query, encoded. */
  readonly query: readonly string[]
}

/** Puts the credentials of a client where the policies of the config read them. */
export function carriedCredentials(
  { jwt, apiKey, basic }: GivenClient,
  { ir, issuer, hashes, now }: { ir: Ir; issuer: TrustedIssuer; hashes: HashStandIns; now: number },
): CarriedCredentials {
  const carried: { headers: [string, string][]; query: string[] } = { headers: [], query: [] }
  if (jwt !== undefined) {
    if (typeof jwt !== 'object' || jwt === null || Array.isArray(jwt))
      throw new UnusableCredential('`jwt` is a mapping of claims')
    const locations = ir.policies.flatMap(({ traffic }) => traffic?.jwtAuthentication?.location ?? [])
    carry(carried, locations[0], issuer.token(jwt, ir, now))
  }
  if (apiKey !== undefined) {
    const policies = ir.policies.flatMap(({ traffic }) => traffic?.apiKeyAuthentication ?? [])
    const key = keyNamed(apiKey, ir) ?? hashes.keyFor(apiKey)
    carry(carried, policies.find(({ location }) => location !== undefined)?.location, key)
  }
  if (basic !== undefined) {
    const locations = ir.policies.flatMap(({ traffic }) => traffic?.basicAuthentication?.location ?? [])
    const password = passwordFor(basic, hashes)
    const text = Buffer.from(`${basic.username}:${password}`).toString('base64')
    carry(carried, locations[0] ?? { header: { name: 'authorization', prefix: 'Basic ' } }, text)
  }
  return carried
}

/** Returns the API key with this name in the config; null when the config has no such name, or only the hash of the key. */
function keyNamed(name: string, ir: Ir): string | null {
  for (const { entries } of policiesOf(ir).apiKeys) {
    const key = entries.find(([each]) => each === name)?.[1].key
    if (key !== undefined) return key
  }
  return null
}

function passwordFor({ username, password }: NonNullable<GivenClient['basic']>, hashes: HashStandIns): string {
  const standIn = hashes.passwordOf(username)
  if (password === undefined) {
    if (standIn === null) throw new UnusableCredential(`the config has no user \`${username}\``)
    return standIn
  }
  // A stand-in has replaced the password's hash in the config, so the real password can no longer be checked.
  if (standIn !== null) {
    throw new UnusableCredential(`give the password of \`${username}\` in all tests of the file, or in none`)
  }
  return password
}

function carry(
  carried: { headers: [string, string][]; query: string[] },
  location: Location | undefined,
  text: string,
): void {
  const { header, queryParameter, cookie } = location ?? {}
  if (queryParameter !== undefined)
    carried.query.push(`${encodeURIComponent(queryParameter.name)}=${encodeURIComponent(text)}`)
  else if (cookie !== undefined) carried.headers.push(['cookie', `${cookie.name}=${text}`])
  else {
    const { name, prefix = '' } = header ?? { name: 'authorization', prefix: 'Bearer ' }
    carried.headers.push([name, prefix + text])
  }
}
