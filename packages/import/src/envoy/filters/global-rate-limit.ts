import { effect } from '../../chain/effects.ts'
import type { Handler } from '../../chain/routes.ts'
import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { enumOf, listAt, memberAt, secondsOf, takeFlag } from '../messages/message.ts'
import { closing, type FilteredRoute, type FilterReader } from './filter.ts'
import { readGrpcService } from './grpc-service.ts'
import { descriptorOf } from './rate-limit-actions.ts'

/**
 * Reads the filter `ratelimit`: a rate limit service that all gateways share, with the descriptors of routes and
 * virtual hosts.
 */
export const globalRateLimit: FilterReader = (config, { services }) => {
  const service = readGrpcService(memberAt(config, 'rate_limit_service', 'grpc_service'), services)
  if (typeof service === 'string') return closing(config, 'ratelimit', service)
  memberAt(config, 'rate_limit_service', 'transport_api_version')?.carried()
  const domain = memberAt(config, 'domain')
  domain?.carried()
  const timeout = memberAt(config, 'timeout')
  const seconds = secondsOf(timeout) ?? service.seconds
  timeout?.carried()
  const isClosed = takeFlag(config, 'failure_mode_deny')
  for (const [name, note] of Object.entries(NOTES)) memberAt(config, name)?.notCarried(note)
  return (override, route) => {
    const descriptors = limitsOf(override, route).flatMap((limit) => descriptorOf(limit, route.cluster) ?? [])
    if (descriptors.length === 0) return []
    const global = withoutAbsent({
      backendRef: service.ref,
      domain: memberAt(override, 'domain')?.text ?? domain?.text ?? '',
      descriptors: descriptors.slice(0, 16),
      failureMode: isClosed ? undefined : 'FailOpen',
      timeout: seconds === null || seconds === 0 ? undefined : durationText(seconds),
    })
    return [withGlobal(global)]
  }
}

function withGlobal(global: object): Handler {
  return effect((state) => {
    const known = state.policies['rateLimit'] as object | undefined
    return { ...state, policies: { ...state.policies, rateLimit: { ...known, global } } }
  })
}

/** Returns the RateLimit messages of a route, followed by those of its virtual host if they are included. */
function limitsOf(override: Field | null, { levels }: FilteredRoute): readonly Field[] {
  const [route, host] = levels
  const own = [...listAt(override, 'rate_limits'), ...listAt(memberAt(route ?? null, 'route'), 'rate_limits')]
  const mode = enumOf(memberAt(override, 'vh_rate_limits'), 'OVERRIDE')
  memberAt(override, 'vh_rate_limits')?.carried()
  memberAt(override, 'domain')?.carried()
  const includes = takeFlag(memberAt(route ?? null, 'route'), 'include_vh_rate_limits') || mode === 'INCLUDE'
  return own.length > 0 && !includes ? own : [...own, ...(mode === 'IGNORE' ? [] : listAt(host ?? null, 'rate_limits'))]
}

const NOTES: Readonly<Record<string, string>> = {
  stat_prefix: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  stage: "the gateway's rate limits have no stages",
  request_type: 'the gateway counts all requests, internal and external',
  rate_limited_as_resource_exhausted: 'gRPC clients get the gRPC status that corresponds to 429',
  enable_x_ratelimit_headers: 'the gateway always sends x-ratelimit headers',
  disable_x_envoy_ratelimited_header: 'the gateway does not send this header',
  rate_limited_status: 'the gateway denies requests with status 429',
  status_on_error: 'when the call fails, the gateway responds with 500 or allows the request',
  response_headers_to_add: "the gateway sends the service's headers to the client",
  failure_mode_deny_percent: 'the gateway treats all requests alike when the call fails',
}
