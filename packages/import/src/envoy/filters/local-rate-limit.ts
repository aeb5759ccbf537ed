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
    if (standard !== null) override.notCarried('the limit of the listener also applies to this route')
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
    bucket.notCarried('the limit has no effect in Envoy without filter_enabled and filter_enforced')
    for (const each of [enabled, enforced]) each?.carried()
    return null
  }
  for (const each of [enabled, enforced]) {
    if (runtimePercentOf(each, 0) === 100) each?.carried()
    else each?.changed('the gateway applies the policy to all requests')
  }
  const most = memberAt(bucket, 'max_tokens')?.number ?? 0
  const fill = memberAt(bucket, 'tokens_per_fill')?.number ?? 1
  const seconds = secondsOf(memberAt(bucket, 'fill_interval')) ?? 0
  const unit = UNITS.find(
    ([, length]) => Math.abs((fill * length) / seconds - Math.round((fill * length) / seconds)) < 1e-9,
  )
  if (unit === undefined || seconds === 0 || most < 1 || fill < 1) {
    bucket.notCarried('configure a rateLimit policy: docs/policies/traffic-rate-limit.md', true)
    return null
  }
  const requests = Math.round((fill * unit[1]) / seconds)
  const burst = Math.max(0, most - requests)
  const isWider = requests > most
  bucket.changed(
    isWider
      ? `the gateway allows up to ${requests} requests at once`
      : 'each time window refills the whole budget at once',
    isWider,
  )
  return withoutAbsent({ requests, unit: unit[0], burst: burst === 0 ? undefined : burst })
}

const NOTES: Readonly<Record<string, string>> = {
  stat_prefix: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  descriptors: 'configure a limit with a key: docs/rate-limits-by-key.md',
  status: 'the gateway denies requests with status 429',
  response_headers_to_add: 'the gateway sends x-ratelimit headers',
  request_headers_to_add_when_not_enforced: 'the gateway enforces all limits',
  local_rate_limit_per_downstream_connection: 'all connections of the gateway share the budget',
  enable_x_ratelimit_headers: 'the gateway always sends x-ratelimit headers',
  rate_limited_as_resource_exhausted: 'gRPC clients get the gRPC status that corresponds to 429',
  vh_rate_limits: 'configure a limit with a key: docs/rate-limits-by-key.md',
  local_cluster_rate_limit: 'each replica of the gateway counts separately',
  always_consume_default_token_bucket: 'a request must pass all limits',
  stage: "the gateway's rate limits have no stages",
  max_dynamic_descriptors: 'configure a limit with a key: docs/rate-limits-by-key.md',
}
