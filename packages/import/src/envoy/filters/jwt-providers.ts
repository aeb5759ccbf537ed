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
  memberAt(field, 'pad_forward_payload_header')?.changed('the claims have no padding')
  const claims = listAt(field, 'claim_to_headers').flatMap((each) => {
    const header = memberAt(each, 'header_name')?.text?.toLowerCase() ?? ''
    const names = memberAt(each, 'claim_name')?.text?.split('.') ?? []
    const path = [...names, ...listAt(each, 'claim_path').flatMap((part) => memberAt(part, 'key')?.text ?? [])]
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header) || path.length === 0) {
      each.notCarried('write a transformation: docs/policies/traffic-transformation.md')
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
    if (inline === null || !isKeySet(inline)) return 'its keys are not a key set'
    local.carried()
    return { inline: inline.trim() }
  }
  const remote = memberAt(field, 'remote_jwks')
  const [uri, cluster] = [memberAt(remote, 'http_uri', 'uri'), memberAt(remote, 'http_uri', 'cluster')]
  const path = /^(?:https?:\/\/)?[^/?#]+\/([^#\s]+)$/.exec(uri?.text ?? '')?.[1]
  if (path === undefined || cluster === null) return 'its keys have no URL'
  const reference = services.nameOf(cluster.text ?? '')
  if (typeof reference === 'string') return reference
  for (const each of [uri, cluster]) each?.carried()
  memberAt(remote, 'http_uri', 'timeout')?.changed('a fetch ends after 10 seconds')
  for (const name of ['async_fetch', 'retry_policy'])
    memberAt(remote, name)?.notCarried('keys are fetched when a request needs them')
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
    memberAt(field, 'issuer')?.changed('tokens in the query parameter access_token are not read')
  }
  first?.each.carried()
  for (const { each } of others) each.notCarried('a token has one place; requests with another one are denied')
  const header = first !== undefined && 'header' in first.place ? first.place.header : null
  const isStandard = header?.name === 'authorization' && header.prefix?.toLowerCase() === 'bearer '
  return first === undefined || isStandard ? null : first.place
}

const NOTES: Readonly<Record<string, string>> = {
  payload_in_metadata: 'expressions read the claims as jwt',
  header_in_metadata: 'expressions do not read the header of a token',
  failed_status_in_metadata: 'expressions do not read why a token failed',
  normalize_payload_in_metadata: 'expressions read the claims as jwt',
  clock_skew_seconds: 'times have 60 seconds of leeway',
  require_expiration: 'exp is always required',
  max_lifetime: 'write a rule about jwt.exp: docs/policies/traffic-authorization.md',
  jwt_cache_config: 'verified tokens are cached',
  clear_route_cache: 'the route does not change after the check',
  subjects: 'write a rule about jwt.sub: docs/policies/traffic-authorization.md',
}
