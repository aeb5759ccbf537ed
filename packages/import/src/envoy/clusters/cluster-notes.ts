import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { enumOf, memberAt, secondsOf } from '../messages/message.ts'

/** Sets notes on the fields of a cluster that the importer does not read. */
export function noteCluster(cluster: Field, endpoints: number): void {
  for (const [name, note] of Object.entries(NOTES)) memberAt(cluster, name)?.notCarried(note)
  const policy = memberAt(cluster, 'lb_policy')
  if (endpoints <= 1) policy?.carried()
  else if (enumOf(policy, 'ROUND_ROBIN') === 'RANDOM') policy?.carried()
  else policy?.changed('the gateway chooses backends at random, by weight')
}

/**
 * Returns the health policy for `outlier_detection`; undefined for a cluster with IP addresses. The gateway evicts
 * addresses of a name, because a name can have several.
 */
export function evictionOf(cluster: Field, isName: boolean): object | undefined {
  const detection = memberAt(cluster, 'outlier_detection')
  if (detection === null) return undefined
  if (!isName) {
    detection.notCarried('the gateway cannot evict a single address; use a name with several addresses')
    return undefined
  }
  detection.changed(
    'the gateway counts responses with status 500 and above, and chooses the length of evictions: docs/backends.md',
  )
  const failures = memberAt(detection, 'consecutive_5xx')?.number ?? 5
  return {
    eviction: withoutAbsent({
      duration: durationText(secondsOf(memberAt(detection, 'base_ejection_time')) ?? 30),
      consecutiveFailures: failures >= 1 && failures <= 255 && Number.isInteger(failures) ? failures : undefined,
    }),
  }
}

const NOTES: Readonly<Record<string, string>> = {
  alt_stat_name: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  health_checks: 'the gateway sends no health checks; a health policy learns from traffic: docs/backends.md',
  circuit_breakers: 'the gateway has other limits for connections and retries: docs/policies/backend-retry-budget.md',
  dns_lookup_family: 'configure config.dns.lookupFamily, which applies to all names',
  dns_refresh_rate: 'the gateway uses DNS results for their TTL',
  respect_dns_ttl: 'the gateway uses DNS results for their TTL',
  dns_resolvers: "the gateway resolves names with the system's resolver",
  typed_dns_resolver_config: "the gateway resolves names with the system's resolver",
  use_tcp_for_dns_lookups: "the gateway resolves names with the system's resolver",
  per_connection_buffer_limit_bytes: "the gateway's buffers have fixed limits: docs/backends.md",
  max_requests_per_connection: 'the gateway reuses connections without a limit',
  upstream_bind_config: 'the operating system chooses the source address of connections',
  common_lb_config: 'the gateway chooses addresses in a fixed way: docs/backends.md',
  least_request_lb_config: 'the gateway chooses addresses in a fixed way: docs/backends.md',
  ring_hash_lb_config:
    'a sessionPersistence policy sends the requests of a session to one backend: docs/policies/traffic-session-persistence.md',
  maglev_lb_config:
    'a sessionPersistence policy sends the requests of a session to one backend: docs/policies/traffic-session-persistence.md',
  round_robin_lb_config: 'the gateway chooses addresses in a fixed way: docs/backends.md',
  lb_subset_config: 'the gateway has no subsets; requests to a subset get 501',
  load_balancing_policy: 'the gateway chooses backends at random, by weight',
  protocol_selection: 'configure http.version of the backend: docs/policies/backend-http.md',
  eds_cluster_config: 'the endpoints come from a control plane',
  ignore_health_on_host_removal: 'the gateway sends no health checks',
  close_connections_on_host_health_failure: 'the gateway does not close connections when a server becomes unhealthy',
  track_cluster_stats: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  metadata: "the gateway's backends have no metadata",
  wait_for_warm_on_init: 'the gateway does not wait for DNS results at start',
  preconnect_policy: 'the gateway opens connections when a request needs them',
}
