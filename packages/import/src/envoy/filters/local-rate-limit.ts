import { policy } from '../../chain/effects.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { memberAt, membersOf, runtimePercentOf, secondsOf } from '../messages/message.ts'
import type { FilterReader } from './filter.ts'

const UNITS = [
  ['Seconds', 1],
  ['Minutes', 60],
  ['Hours', 3_600],
] as const

/**
 * Reads the filter `local_ratelimit`. A limit in the config of a route becomes a policy of the route. `listenerLimit`
 * returns the limit in the config of the filter.
 */
export const localRateLimit: FilterReader = (config) => {
  const standard = readLimit(config)
  return (override) => {
    if (override === null) return []
    const found = readLimit(override)
    if (found !== null) return [policy('rateLimit', { local: [found] })]
    if (standard !== null) override.notCarried('the limit of the listener holds for this route too')
    return []
  }
}

/** Returns the `rateLimit` policy of a listener; null when the filter's config limits nothing. */
export function listenerLimit(config: Field): object | null {
  const found = readLimit(config)
  return found === null ? null : { local: [found] }
}

function readLimit(config: Field): object | null {
  for (const [name, field] of membersOf(config)) {
    const note = NOTES[name]
    if (note !== undefined) field.notCarried(note, name === 'descriptors')
  }
  const [enabled, enforced] = [memberAt(config, 'filter_enabled'), memberAt(config, 'filter_enforced')]
  const bucket = memberAt(config, 'token_bucket')
  if (bucket === null) return null
  if (runtimePercentOf(enabled, 0) === 0 || runtimePercentOf(enforced, 0) === 0) {
    bucket.notCarried('Envoy limits nothing without filter_enabled and filter_enforced')
    for (const each of [enabled, enforced]) each?.carried()
    return null
  }
  for (const each of [enabled, enforced]) {
    if (runtimePercentOf(each, 0) === 100) each?.carried()
    else each?.changed('for all requests')
  }
  const most = memberAt(bucket, 'max_tokens')?.number ?? 0
  const fill = memberAt(bucket, 'tokens_per_fill')?.number ?? 1
  const seconds = secondsOf(memberAt(bucket, 'fill_interval')) ?? 0
  const unit = UNITS.find(
    ([, length]) => Math.abs((fill * length) / seconds - Math.round((fill * length) / seconds)) < 1e-9,
  )
  if (unit === undefined || seconds === 0 || most < 1 || fill < 1) {
    bucket.notCarried('write a rateLimit policy: docs/policies/traffic-rate-limit.md', true)
    return null
  }
  const requests = Math.round((fill * unit[1]) / seconds)
  const burst = Math.max(0, most - requests)
  const isWider = requests > most
  bucket.changed(
    isWider ? `up to ${requests} requests at once` : 'a window of time refills the budget at once',
    isWider,
  )
  return withoutAbsent({ requests, unit: unit[0], burst: burst === 0 ? undefined : burst })
}

const NOTES: Readonly<Record<string, string>> = {
  stat_prefix: 'metrics have other names: docs/logs-and-metrics.md',
  descriptors: 'write a limit with a key: docs/rate-limits-by-key.md',
  status: 'denied requests get 429',
  response_headers_to_add: 'responses have x-ratelimit headers',
  request_headers_to_add_when_not_enforced: 'limits are enforced',
  local_rate_limit_per_downstream_connection: 'all connections share the budget',
  enable_x_ratelimit_headers: 'responses always have x-ratelimit headers',
  rate_limited_as_resource_exhausted: 'gRPC clients get the status of 429',
  vh_rate_limits: 'write a limit with a key: docs/rate-limits-by-key.md',
  local_cluster_rate_limit: 'each replica counts on its own',
  always_consume_default_token_bucket: 'a request must pass each limit',
  stage: 'there are no stages',
  max_dynamic_descriptors: 'write a limit with a key: docs/rate-limits-by-key.md',
}
