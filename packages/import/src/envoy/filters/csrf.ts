import { policy } from '../../chain/effects.ts'
import type { Handler } from '../../chain/routes.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, runtimePercentOf } from '../messages/message.ts'
import { readStringMatcher } from '../messages/string-matcher.ts'
import { type FilterReader, replaceable } from './filter.ts'

/** Reads the filter `csrf`. The config of a route replaces the config of the filter. */
export const csrf: FilterReader = (config) => replaceable(config, 'csrf', csrfPolicy)

function csrfPolicy(config: Field): Handler[] {
  const [enabled, shadow] = [memberAt(config, 'filter_enabled'), memberAt(config, 'shadow_enabled')]
  const percent = runtimePercentOf(enabled, 100)
  const isShadow = percent === 0 && runtimePercentOf(shadow, 0) > 0
  for (const each of [enabled, shadow]) each?.carried()
  if (percent > 0 && percent < 100) enabled?.changed('the gateway applies the policy to all requests')
  const origins = listAt(config, 'additional_origins').flatMap(originsOf)
  if (percent === 0 && !isShadow) return []
  return [
    policy(
      'csrf',
      withoutAbsent({
        additionalOrigins: origins.length === 0 ? undefined : origins.slice(0, 16),
        mode: isShadow ? 'Shadow' : undefined,
      }),
    ),
  ]
}

/** Returns the origins for a host, with `https` and with `http`, because Envoy compares only the host of an origin. */
function originsOf(matcher: Field): string[] {
  const test = readStringMatcher(matcher)
  if (typeof test === 'string' || !('exact' in test) || !/^[a-z0-9.-]+(:\d{1,5})?$/i.test(test.exact)) {
    matcher.notCarried('the gateway accepts only whole hosts as origins; other origins are denied')
    return []
  }
  matcher.carried()
  return [`https://${test.exact}`, `http://${test.exact}`]
}
