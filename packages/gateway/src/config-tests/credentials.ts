import type { Ir } from '../ir/resources.ts'
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
  { ir, issuer, now }: { ir: Ir; issuer: TrustedIssuer; now: number },
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
    carry(carried, policies.find(({ location }) => location !== undefined)?.location, keyNamed(apiKey, policies))
  }
  if (basic !== undefined) {
    const locations = ir.policies.flatMap(({ traffic }) => traffic?.basicAuthentication?.location ?? [])
    const text = Buffer.from(`${basic.username}:${basic.password}`).toString('base64')
    carry(carried, locations[0] ?? { header: { name: 'authorization', prefix: 'Basic ' } }, text)
  }
  return carried
}

type KeyPolicy = NonNullable<NonNullable<Ir['policies'][number]['traffic']>['apiKeyAuthentication']>

/** The key with this name in the config; a text that no key has as its name is the key itself. */
function keyNamed(name: string, policies: readonly KeyPolicy[]): string {
  for (const { secretRef } of policies) {
    const entry = Object.entries(secretRef?.data ?? {}).find(([each]) => each === name)?.[1]
    if (entry === undefined) continue
    if (entry.key !== undefined) return entry.key
    throw new UnusableCredential(`the config has only a hash of the API key \`${name}\`: give the key itself`)
  }
  return name
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
