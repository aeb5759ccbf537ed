import { policy } from '../../chain/effects.ts'
import type { Handler } from '../../chain/routes.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { type Condition, expressionOfCondition } from '../../http/conditions.ts'
import { readHeaderMatcher } from '../messages/field-matchers.ts'
import { listAt, memberAt, percentOf, secondsOf } from '../messages/message.ts'
import { type FilterReader, replaceable } from './filter.ts'

/** Reads the filter `fault`, which delays requests or responds with errors to test clients. */
export const fault: FilterReader = (config) => replaceable(config, 'fault', faultPolicies)

function faultPolicies(config: Field): Handler[] {
  for (const [name, note] of Object.entries(NOTES)) memberAt(config, name)?.notCarried(note)
  const condition = conditionOf(config)
  if (condition === null) return []
  const found: Handler[] = []
  const add = (name: string, value: object): void => {
    found.push(policy(name, condition === '' ? value : { conditional: [{ condition, policy: value }] }))
  }
  const delay = memberAt(config, 'delay')
  const seconds = secondsOf(memberAt(delay, 'fixed_delay'))
  if (seconds !== null && seconds > 0) {
    memberAt(delay, 'fixed_delay')?.carried()
    const percentage = percentageOf(delay)
    if (percentage !== 0) add('delay', withoutAbsent({ time: durationText(seconds), percentage }))
  } else delay?.notCarried('configure a delay policy: docs/policies/traffic-delay.md')
  const abort = memberAt(config, 'abort')
  const [status, grpc] = [memberAt(abort, 'http_status'), memberAt(abort, 'grpc_status')]
  const code = grpc === null ? status?.number : 503
  if (abort !== null && code != null && code >= 400 && code <= 599) {
    status?.carried()
    grpc?.carried()
    const number = grpc?.number ?? 0
    const grpcStatus = number >= 1 && number <= 16 ? number : undefined
    const percentage = percentageOf(abort)
    if (percentage !== 0) add('abort', withoutAbsent({ status: code, grpcStatus, percentage }))
  } else abort?.notCarried('configure an abort policy with a status from 400 to 599: docs/policies/traffic-abort.md')
  return found
}

/** Returns the percentage of requests that are delayed or aborted; undefined for all requests. */
function percentageOf(part: Field | null): number | undefined {
  const field = memberAt(part, 'percentage')
  const percent = percentOf(field) ?? 0
  field?.carried()
  return percent === 100 ? undefined : percent
}

/**
 * Returns the condition for requests that are delayed or aborted: empty for all requests, null when the condition
 * cannot be expressed.
 */
function conditionOf(config: Field): string | null {
  const matchers = listAt(config, 'headers')
  if (matchers.length === 0) return ''
  const all: Condition = { kind: 'all', of: matchers.map((matcher) => readHeaderMatcher(matcher)) }
  const expression = expressionOfCondition(all)
  for (const matcher of matchers) {
    if (expression === null)
      matcher.notCarried('the gateway cannot compare the header, so no request is delayed or aborted')
    else matcher.carried()
  }
  return expression
}

const NOTES: Readonly<Record<string, string>> = {
  upstream_cluster: 'configure the policy on the routes of this cluster',
  downstream_nodes: 'configure a condition of the policy',
  max_active_faults: 'the gateway has no such limit',
  response_rate_limit: 'the gateway does not limit the rate of responses',
  delay_percent_runtime: 'the gateway has no runtime values',
  abort_percent_runtime: 'the gateway has no runtime values',
  delay_duration_runtime: 'the gateway has no runtime values',
  abort_http_status_runtime: 'the gateway has no runtime values',
  max_active_faults_runtime: 'the gateway has no runtime values',
  response_rate_limit_percent_runtime: 'the gateway has no runtime values',
  abort_grpc_status_runtime: 'the gateway has no runtime values',
  disable_downstream_cluster_stats: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
}
