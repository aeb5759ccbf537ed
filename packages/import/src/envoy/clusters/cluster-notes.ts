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
  else policy?.changed('backends are chosen at random by weight')
}

/**
 * Returns the health policy for `outlier_detection`; undefined for a cluster with IP addresses. The gateway evicts
 * addresses of a name, because a name can have several.
 */
export function evictionOf(cluster: Field, isName: boolean): object | undefined {
  const detection = memberAt(cluster, 'outlier_detection')
  if (detection === null) return undefined
  if (!isName) {
    detection.notCarried('single addresses are not evicted: use a name that has several addresses')
    return undefined
  }
  detection.changed('responses with status 500 and above count, and evictions are as long as docs/backends.md says')
  const failures = memberAt(detection, 'consecutive_5xx')?.number ?? 5
  return {
    eviction: withoutAbsent({
      duration: durationText(secondsOf(memberAt(detection, 'base_ejection_time')) ?? 30),
      consecutiveFailures: failures >= 1 && failures <= 255 && Number.isInteger(failures) ? failures : undefined,
    }),
  }
}

const NOTES: Readonly<Record<string, string>> = {
  alt_stat_name: 'metrics have other names: docs/logs-and-metrics.md',
  health_checks: 'a health policy learns from traffic: docs/backends.md',
  circuit_breakers: 'the number of connections and retries has other limits: docs/policies/backend-retry-budget.md',
  dns_lookup_family: 'config.dns.lookupFamily is for all names',
  dns_refresh_rate: 'results of DNS are used for their TTL',
  respect_dns_ttl: 'results of DNS are used for their TTL',
  dns_resolvers: 'the system resolves names',
  typed_dns_resolver_config: 'the system resolves names',
  use_tcp_for_dns_lookups: 'the system resolves names',
  per_connection_buffer_limit_bytes: 'buffers have fixed limits: docs/backends.md',
  max_requests_per_connection: 'connections are used again without a limit',
  upstream_bind_config: 'the system chooses the own address',
  common_lb_config: 'the choice of an address is fixed: docs/backends.md',
  least_request_lb_config: 'the choice of an address is fixed: docs/backends.md',
  ring_hash_lb_config: 'requests of a session go to one backend: docs/policies/traffic-session-persistence.md',
  maglev_lb_config: 'requests of a session go to one backend: docs/policies/traffic-session-persistence.md',
  round_robin_lb_config: 'the choice of an address is fixed: docs/backends.md',
  lb_subset_config: 'routes that choose a subset get 501',
  load_balancing_policy: 'backends are chosen at random by weight',
  protocol_selection: 'http.version of a backend: docs/policies/backend-http.md',
  eds_cluster_config: 'endpoints come from a control plane',
  ignore_health_on_host_removal: 'there are no health checks',
  close_connections_on_host_health_failure: 'connections end on their own',
  track_cluster_stats: 'metrics have other names: docs/logs-and-metrics.md',
  metadata: 'backends have no metadata',
  wait_for_warm_on_init: 'the gateway does not wait for names',
  preconnect_policy: 'connections are made when a request needs them',
}
