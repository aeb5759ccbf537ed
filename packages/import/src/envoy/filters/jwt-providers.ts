import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, secondsOf, takeText } from '../messages/message.ts'
import type { Services } from '../clusters/services.ts'
import { fileOf, inlineTextOf } from '../messages/secrets.ts'

/** A provider of `jwt_authn`: an issuer whose tokens are accepted. */
export interface JwtProvider {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly jwks: object
  /** The location of the token in requests; null for `Authorization: Bearer`. */
  readonly location: object | null
  /** Whether the upstream gets the token. */
  readonly isForwarded: boolean
  /** The header that sends all claims to the upstream; null when there is no such header. */
  readonly payloadHeader: string | null
  readonly claimHeaders: readonly { readonly header: string; readonly path: readonly string[] }[]
}

/**
 * Reads the providers of `jwt_authn` by name. The value is the reason as a string for a provider that cannot be
 * expressed.
 */
export function readProviders(config: Field, services: Services): Map<string, JwtProvider | string> {
  return new Map(
    (memberAt(config, 'providers')?.members ?? []).map(([name, field]) => [name, readProvider(field, services)]),
  )
}

function readProvider(field: Field, services: Services): JwtProvider | string {
  for (const [name, note] of Object.entries(NOTES)) memberAt(field, name)?.notCarried(note)
  const issuer = takeText(field, 'issuer')
  if (issuer === null || issuer === '' || issuer.length > 256) return 'the provider has no issuer'
  const audiences = memberAt(field, 'audiences')
  audiences?.carried()
  const jwks = readKeys(field, services)
  if (typeof jwks === 'string') return jwks
  const forward = memberAt(field, 'forward')
  forward?.carried()
  const payload = memberAt(field, 'forward_payload_header')
  payload?.carried()
  memberAt(field, 'pad_forward_payload_header')?.changed('the gateway sends the claims without padding')
  const claims = listAt(field, 'claim_to_headers').flatMap((each) => {
    const header = memberAt(each, 'header_name')?.text?.toLowerCase() ?? ''
    const names = memberAt(each, 'claim_name')?.text?.split('.') ?? []
    const path = [...names, ...listAt(each, 'claim_path').flatMap((part) => memberAt(part, 'key')?.text ?? [])]
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header) || path.length === 0) {
      each.notCarried('configure a transformation: docs/policies/traffic-transformation.md')
      return []
    }
    each.carried()
    return [{ header, path }]
  })
  return {
    ...{ issuer, jwks, isForwarded: forward?.isTrue === true, claimHeaders: claims },
    audiences: (audiences?.items ?? []).flatMap(({ text }) => text ?? []).slice(0, 64),
    location: locationOf(field),
    payloadHeader: payload?.text?.toLowerCase() ?? null,
  }
}

function readKeys(field: Field, services: Services): object | string {
  const local = memberAt(field, 'local_jwks')
  if (local !== null) {
    const [file, inline] = [fileOf(local), inlineTextOf(local)]
    if (file !== null) return { file }
    if (inline === null || !isKeySet(inline)) return 'the keys of the provider are not a JSON Web Key Set'
    local.carried()
    return { inline: inline.trim() }
  }
  const remote = memberAt(field, 'remote_jwks')
  const [uri, cluster] = [memberAt(remote, 'http_uri', 'uri'), memberAt(remote, 'http_uri', 'cluster')]
  const path = /^(?:https?:\/\/)?[^/?#]+\/([^#\s]+)$/.exec(uri?.text ?? '')?.[1]
  if (path === undefined || cluster === null) return 'the provider has no URL for its keys'
  const reference = services.nameOf(cluster.text ?? '')
  if (typeof reference === 'string') return reference
  for (const each of [uri, cluster]) each?.carried()
  memberAt(remote, 'http_uri', 'timeout')?.changed('the gateway waits at most 10 seconds for the keys')
  for (const name of ['async_fetch', 'retry_policy'])
    memberAt(remote, name)?.notCarried('the gateway fetches the keys when a request needs them')
  const duration = memberAt(remote, 'cache_duration')
  const seconds = secondsOf(duration)
  duration?.carried()
  return {
    remote: withoutAbsent({
      backendRef: reference,
      jwksPath: path,
      cacheDuration: seconds === null || seconds <= 0 ? undefined : durationText(seconds),
    }),
  }
}

function isKeySet(text: string): boolean {
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'object' && found !== null && 'keys' in found && Array.isArray(found.keys)
  } catch {
    return false
  }
}

/** Returns the first token location that the provider names, because the gateway supports one location. */
function locationOf(field: Field): object | null {
  const places = [
    ...listAt(field, 'from_headers').map((each) => ({
      each,
      place: {
        header: withoutAbsent({
          name: memberAt(each, 'name')?.text?.toLowerCase() ?? 'authorization',
          prefix: memberAt(each, 'value_prefix')?.text ?? undefined,
        }),
      },
    })),
    ...listAt(field, 'from_params').map((each) => ({ each, place: { queryParameter: { name: each.text ?? '' } } })),
    ...listAt(field, 'from_cookies').map((each) => ({ each, place: { cookie: { name: each.text ?? '' } } })),
  ]
  const [first, ...others] = places
  if (first === undefined) {
    memberAt(field, 'issuer')?.changed('the gateway does not read tokens in the query parameter access_token')
  }
  first?.each.carried()
  for (const { each } of others)
    each.notCarried('the gateway reads tokens from one location; requests with a token in another location are denied')
  const header = first !== undefined && 'header' in first.place ? first.place.header : null
  const isStandard = header?.name === 'authorization' && header.prefix?.toLowerCase() === 'bearer '
  return first === undefined || isStandard ? null : first.place
}

const NOTES: Readonly<Record<string, string>> = {
  payload_in_metadata: "the gateway's expressions read the claims as jwt",
  header_in_metadata: "the gateway's expressions cannot read the header of a token",
  failed_status_in_metadata: "the gateway's expressions cannot read why a token was rejected",
  normalize_payload_in_metadata: "the gateway's expressions read the claims as jwt",
  clock_skew_seconds: 'the gateway allows a clock difference of 60 seconds',
  require_expiration: 'the gateway always requires the claim exp',
  max_lifetime: 'configure an authorization rule with jwt.exp: docs/policies/traffic-authorization.md',
  jwt_cache_config: 'the gateway always caches verified tokens',
  clear_route_cache: 'the gateway does not choose the route again after the check',
  subjects: 'configure an authorization rule with jwt.sub: docs/policies/traffic-authorization.md',
}
