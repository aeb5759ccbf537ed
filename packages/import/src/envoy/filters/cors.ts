import { policy } from '../../chain/effects.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { fitsRegex } from '../../http/paths.ts'
import { listAt, memberAt, runtimePercentOf, takeFlag } from '../messages/message.ts'
import { readStringMatcher } from '../messages/string-matcher.ts'
import type { FilterReader } from './filter.ts'

/** Reads the filter `cors`, whose policy is in a route, a virtual host or a route table. */
export const cors: FilterReader =
  () =>
  (override, { levels }) => {
    const old = levels.flatMap((level) => memberAt(level, 'route', 'cors') ?? memberAt(level, 'cors') ?? [])
    const config = override ?? old[0] ?? null
    const found = config === null ? null : corsPolicy(config)
    return found === null ? [] : [policy('cors', found)]
  }

function corsPolicy(config: Field): object | null {
  const enabled = memberAt(config, 'filter_enabled')
  const percent = runtimePercentOf(enabled, 100)
  if (percent === 0) {
    enabled?.carried()
    return null
  }
  if (percent < 100) enabled?.changed('the gateway applies the policy to all requests')
  else enabled?.carried()
  const origins = listAt(config, 'allow_origin_string_match').flatMap(originsOf)
  const age = memberAt(config, 'max_age')
  const seconds = age?.number ?? null
  if (seconds === null || seconds < 0) age?.notCarried('the value is not a number of seconds')
  else age?.carried()
  const listOf = (name: string): string[] | undefined => {
    const field = memberAt(config, name)
    const words = (field?.text ?? '').split(',').map((word) => word.trim())
    const found = words.filter((word) => /^[\w!#$%&'*+.^`|~-]{1,256}$/.test(word)).slice(0, 64)
    field?.carried()
    return found.length === 0 ? undefined : found
  }
  return withoutAbsent({
    allowOrigins: [...new Set(origins)].slice(0, 64),
    allowMethods: listOf('allow_methods')?.slice(0, 16),
    allowHeaders: listOf('allow_headers'),
    exposeHeaders: listOf('expose_headers'),
    allowCredentials: takeFlag(config, 'allow_credentials') ? true : undefined,
    maxAge: seconds === null || seconds < 0 ? undefined : `${Math.min(Math.floor(seconds), 31_536_000)}s`,
  })
}

/**
 * Returns the origins of a StringMatcher: `*`, a literal origin, or an origin with a wildcard for the first part of the
 * host.
 */
function originsOf(matcher: Field): string[] {
  const test = readStringMatcher(matcher)
  if (typeof test !== 'string' && 'exact' in test && /^(\*|[a-z]+:\/\/[a-z0-9.:-]+)$/i.test(test.exact)) {
    matcher.carried()
    return [test.exact]
  }
  const regex = typeof test !== 'string' && 'regex' in test ? test.regex : null
  // Envoy allows all origins when a matcher fits the text `*`.
  if (regex !== null && fitsRegex(regex, '*') === true) {
    matcher.carried()
    return ['*']
  }
  const [, scheme, domain] =
    /^(https\?|https?):?\\?\/\\?\/(?:\.\*|\.\+|\[\^\.\]\+)\\\.((?:[a-z0-9-]|\\\.)+)$/i.exec(regex ?? '') ?? []
  if (scheme !== undefined && domain !== undefined) {
    matcher.changed('the importer replaced the pattern by a wildcard')
    const host = domain.replaceAll('\\.', '.')
    return scheme === 'https?' ? [`https://*.${host}`, `http://*.${host}`] : [`${scheme}://*.${host}`]
  }
  matcher.notCarried(
    'the pattern has no counterpart; list the origins, or write a wildcard: docs/policies/traffic-cors.md',
  )
  return []
}
