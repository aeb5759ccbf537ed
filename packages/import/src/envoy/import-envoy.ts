import { withoutAbsent } from '../core/config-yaml.ts'
import type { ImportedConfig, ImportResult } from '../core/import-result.ts'
import { sortReport } from '../core/report.ts'
import { SecretVariables } from '../core/secret-variables.ts'
import { problemsOf, SourceError, type SourceText } from '../core/source.ts'
import { type Field, readYaml } from '../core/yaml-field.ts'
import { behaviorOf } from '../http/behavior.ts'
import { bindOf } from './listeners/binds.ts'
import { noteBootstrap } from './bootstrap-notes.ts'
import { clusterFields, readClusters } from './clusters/clusters.ts'
import { type Listener, readListeners } from './listeners/listeners.ts'
import { readSecrets } from './messages/secrets.ts'
import { Services } from './clusters/services.ts'

/** Imports static bootstrap configs of Envoy, in YAML or JSON. Several files are read as one. */
export function importEnvoy(sources: readonly SourceText[]): ImportResult {
  return problemsOf(() => importSources(sources))
}

function importSources(sources: readonly SourceText[]): ImportedConfig {
  const [first] = sources
  if (first === undefined) throw new SourceError({ file: '', line: 1, column: 1 }, 'found no file')
  const roots = sources.map(readYaml)
  for (const root of roots)
    if (!root.isMapping) throw new SourceError(root.at, 'found no mapping, expected a bootstrap with static_resources')
  for (const root of roots) noteBootstrap(root)
  const secrets = readSecrets(roots)
  const clusters = readClusters(clusterFields(roots), secrets)
  const variables = new SecretVariables()
  const services = new Services(clusters)
  const listeners = readListeners(roots, secrets)
  const found = listeners.flatMap((listener) => bindOf(listener, { clusters, services, variables }) ?? [])
  if (found.length === 0) {
    throw new SourceError(
      { file: first.name, line: 1, column: 1 },
      'found no listener that can be imported, expected static_resources.listeners with an HTTP connection manager or a TCP proxy (API version 3)',
    )
  }
  const config = withoutAbsent({
    frontend: frontendOf(listeners),
    backends: services.backends,
    binds: found.map(({ bind }) => bind),
  })
  const report = sortReport(
    roots.flatMap((root) => root.reportOf()),
    sources.map(({ name }) => name),
  )
  const ports = found.flatMap(({ port }) => port ?? [])
  return { config, report, behavior: behaviorOf(ports, variables.examples) }
}

/** Returns the frontend settings. In the gateway, the PROXY protocol and the TLS parameters apply to all ports. */
function frontendOf(listeners: readonly Listener[]): object | undefined {
  const found = withoutAbsent({ proxyProtocol: proxyProtocolOf(listeners), tls: tlsOf(listeners) })
  return Object.keys(found).length === 0 ? undefined : found
}

function proxyProtocolOf(listeners: readonly Listener[]): object | undefined {
  const those = listeners.filter(({ hasProxyProtocol }) => hasProxyProtocol)
  if (those.length === 0) return undefined
  const isAll = those.length === listeners.length
  for (const { field } of those) noteProxyProtocol(field, isAll)
  return isAll ? { version: 'All' } : undefined
}

function tlsOf(listeners: readonly Listener[]): object | undefined {
  const all = listeners.flatMap(({ chains }) => chains.flatMap(({ tls }) => tls?.parameters ?? []))
  const [first] = all
  const isSame = new Set(all.map(({ policy }) => JSON.stringify(policy))).size === 1
  for (const each of all) each.note(isSame)
  return !isSame || first === undefined || Object.keys(first.policy).length === 0 ? undefined : first.policy
}

function noteProxyProtocol(listener: Field, isAll: boolean): void {
  for (const filter of listener.get('listener_filters')?.items ?? listener.get('listenerFilters')?.items ?? []) {
    if (!(filter.get('name')?.text ?? '').includes('proxy_protocol')) continue
    if (isAll) filter.carried()
    else
      filter.notCarried('frontend.proxyProtocol applies to all ports: docs/policies/frontend-proxy-protocol.md', true)
  }
}
