import type { Field } from '../../core/yaml-field.ts'
import { memberAt } from '../messages/message.ts'

/**
 * Sets notes on the fields of a RouteAction that the importer does not read. Returns why requests of the route cannot
 * be forwarded, or null.
 */
export function noteRouteAction(route: Field): string | null {
  for (const [name, note] of Object.entries(NOTES)) memberAt(route, name)?.notCarried(note)
  if (memberAt(route, 'metadata_match') === null) return null
  return 'it chooses a subset of the endpoints'
}

const NOTES: Readonly<Record<string, string>> = {
  idle_timeout: 'frontend.http has limits of idle connections',
  cluster_not_found_response_code: 'all clusters are known',
  metadata_match: 'backends have no subsets',
  internal_redirect_policy: 'redirects of backends reach the client',
  internal_redirect_action: 'redirects of backends reach the client',
  max_internal_redirects: 'redirects of backends reach the client',
  max_stream_duration: 'timeouts.request limits a request: docs/policies/traffic-timeouts.md',
  max_grpc_timeout: 'grpc-timeout does not limit requests',
  grpc_timeout_offset: 'grpc-timeout does not limit requests',
  hedge_policy: 'requests are not sent twice at once',
  priority: 'there are no priorities',
  flush_timeout: 'the response is sent as fast as the client reads',
  early_data_policy: 'early data is not accepted',
  retry_policy_typed_config: 'write a retry policy: docs/policies/traffic-retry.md',
}
