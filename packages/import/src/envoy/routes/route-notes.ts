import type { Field } from '../../core/yaml-field.ts'
import { memberAt } from '../messages/message.ts'

/**
 * Sets notes on the fields of a RouteAction that the importer does not read. Returns why requests of the route cannot
 * be forwarded, or null.
 */
export function noteRouteAction(route: Field): string | null {
  for (const [name, note] of Object.entries(NOTES)) memberAt(route, name)?.notCarried(note)
  if (memberAt(route, 'metadata_match') === null) return null
  return 'the route chooses a subset of the endpoints, and the gateway has no subsets'
}

const NOTES: Readonly<Record<string, string>> = {
  idle_timeout: 'configure limits of idle connections in frontend.http',
  cluster_not_found_response_code: 'the gateway knows all clusters when it loads the config',
  metadata_match: "the gateway's backends have no subsets",
  internal_redirect_policy: 'the gateway sends redirects of backends to the client',
  internal_redirect_action: 'the gateway sends redirects of backends to the client',
  max_internal_redirects: 'the gateway sends redirects of backends to the client',
  max_stream_duration: 'configure timeouts.request to limit a request: docs/policies/traffic-timeouts.md',
  max_grpc_timeout: 'the gateway ignores grpc-timeout',
  grpc_timeout_offset: 'the gateway ignores grpc-timeout',
  hedge_policy: 'the gateway does not hedge requests',
  priority: 'the gateway has no priorities',
  flush_timeout: 'the gateway has no time limit for clients that read a response slowly',
  early_data_policy: 'the gateway does not accept TLS early data',
  retry_policy_typed_config: 'configure a retry policy: docs/policies/traffic-retry.md',
}
