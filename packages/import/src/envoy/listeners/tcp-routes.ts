import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Clusters } from '../clusters/clusters.ts'
import { destinationsOf } from '../clusters/destinations.ts'
import type { FilterChain } from './filter-chains.ts'
import { memberAt } from '../messages/message.ts'

/** Returns the route of a TCP proxy. A route without backends closes its connections. */
export function tcpRoute({ config, names, guards }: FilterChain, clusters: Clusters): object {
  for (const [name, note] of Object.entries(NOTES)) memberAt(config, name)?.notCarried(note)
  const tunnel = memberAt(config, 'tunneling_config')
  tunnel?.notCarried('a tunnel is a policy of the backend: its connections are closed until you write it')
  for (const { config: guard } of guards)
    guard.notCarried('it may protect its connections; they are closed until you replace it', true)
  const found = destinationsOf(config, clusters)
  const isOpen = tunnel === null && guards.length === 0 && memberAt(config, 'metadata_match') === null
  if (typeof found === 'string') config.get('@type')?.notCarried(`${found}; its connections are closed`)
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
  stat_prefix: 'metrics have other names: docs/logs-and-metrics.md',
  access_log: 'docs/logs-and-metrics.md',
  access_log_options: 'docs/logs-and-metrics.md',
  idle_timeout: 'connections have no idle limit',
  downstream_idle_timeout: 'connections have no idle limit',
  upstream_idle_timeout: 'connections have no idle limit',
  max_downstream_connection_duration: 'connections have no limit of time',
  max_connect_attempts: 'up to three addresses are tried',
  hash_policy: 'backends are chosen at random by weight',
  metadata_match: 'backends have no subsets: its connections are closed',
  backoff_options: 'there is no pause between addresses',
  on_demand: 'clusters do not come from a control plane',
}
