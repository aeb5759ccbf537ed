import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Clusters } from '../clusters/clusters.ts'
import { destinationsOf } from '../clusters/destinations.ts'
import type { FilterChain } from './filter-chains.ts'
import { memberAt } from '../messages/message.ts'

/** Returns the route of a TCP proxy. A route without backends closes its connections. */
export function tcpRoute({ config, names, guards }: FilterChain, clusters: Clusters): object {
  for (const [name, note] of Object.entries(NOTES)) memberAt(config, name)?.notCarried(note)
  const tunnel = memberAt(config, 'tunneling_config')
  tunnel?.notCarried('configure a tunnel policy for the backend; connections of this proxy are closed until then')
  for (const { config: guard } of guards)
    guard.notCarried(
      'the filter may restrict access; connections of this proxy are closed until you configure a replacement',
      true,
    )
  const found = destinationsOf(config, clusters)
  const isOpen = tunnel === null && guards.length === 0 && memberAt(config, 'metadata_match') === null
  if (typeof found === 'string') config.get('@type')?.notCarried(`${found}; connections of this proxy are closed`)
  const backends =
    typeof found === 'string' || !isOpen
      ? []
      : found.backends.map(({ policies: { http: _http, health: _health, ...policies }, ...backend }) =>
          withoutAbsent({ ...backend, policies: Object.keys(policies).length === 0 ? undefined : policies }),
        )
  return withoutAbsent({
    hostnames: names.length === 0 ? undefined : names,
    backends: backends.length === 0 ? undefined : backends,
  })
}

const NOTES: Readonly<Record<string, string>> = {
  stat_prefix: "the gateway's metrics have fixed names: docs/logs-and-metrics.md",
  access_log: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  access_log_options: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
  idle_timeout: 'the gateway has no idle time limit for TCP connections',
  downstream_idle_timeout: 'the gateway has no idle time limit for TCP connections',
  upstream_idle_timeout: 'the gateway has no idle time limit for TCP connections',
  max_downstream_connection_duration: 'the gateway has no time limit for TCP connections',
  max_connect_attempts: 'the gateway tries up to three addresses',
  hash_policy: 'the gateway chooses backends at random, by weight',
  metadata_match: "the gateway's backends have no subsets; connections of this proxy are closed",
  backoff_options: 'the gateway does not wait between addresses',
  on_demand: 'the gateway does not load clusters on demand',
}
