import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { enumOf, memberAt, listAt, secondsOf, typeOf } from '../messages/message.ts'
import { readEndpoints } from './endpoints.ts'
import { evictionOf, noteCluster } from './cluster-notes.ts'
import { httpVersionOf } from './cluster-protocol.ts'
import type { Secrets } from '../messages/secrets.ts'
import { readUpstreamTls } from './upstream-tls.ts'

/** An imported cluster of Envoy: its endpoints and their policies. */
export interface Cluster {
  readonly name: string
  readonly field: Field
  /**
   * The addresses of the endpoints with their weights; empty for a cluster that forwards to the host that each request
   * names.
   */
  readonly endpoints: readonly { readonly host: string; readonly weight: number }[]
  readonly isDynamic: boolean
  readonly policies: Readonly<Record<string, unknown>>
}

/** Finds a cluster by name; returns the reason as a string when the cluster cannot be used. */
export type Clusters = (name: string) => Cluster | string

/** Reads all clusters, including clusters that no route names. */
export function readClusters(fields: readonly Field[], secrets: Secrets): Clusters {
  const known = new Map<string, Cluster | string>()
  for (const field of fields) {
    const name = memberAt(field, 'name')
    name?.carried()
    const text = name?.text ?? ''
    if (known.has(text)) name?.notCarried('an earlier cluster has the same name')
    else known.set(text, readCluster(text, field, secrets))
  }
  return (name) => known.get(name) ?? `no file has a cluster named ${name.slice(0, 60)}`
}

function readCluster(name: string, field: Field, secrets: Secrets): Cluster | string {
  const type = memberAt(field, 'type')
  const custom = memberAt(field, 'cluster_type')
  const isDynamic = typeOf(memberAt(custom, 'typed_config')) === 'clusters.dynamic_forward_proxy'
  if (custom !== null && !isDynamic) {
    custom.notCarried('the kind of the cluster has no counterpart; requests to the cluster get 501')
    return 'the kind of the cluster has no counterpart'
  }
  const kind = enumOf(type, 'STATIC')
  if (!isDynamic && !['STATIC', 'STRICT_DNS', 'LOGICAL_DNS'].includes(kind)) {
    const why =
      kind === 'EDS'
        ? 'the endpoints come from a control plane'
        : 'the file does not contain the destinations of the cluster'
    type?.notCarried(`${why}; matching requests get 501`)
    noteCluster(field, 0)
    return why
  }
  type?.carried()
  custom?.changed('the gateway denies private addresses, and ports other than 80 and 443: docs/backends.md')
  const endpoints = isDynamic ? [] : readEndpoints(field)
  noteCluster(field, endpoints.length)
  const isName = endpoints.length === 1 && !/^(unix:|\[|\d+\.\d+\.\d+\.\d+:)/.test(endpoints[0]?.host ?? '')
  const policies = withoutAbsent({
    tcp: tcpPolicy(field),
    tls: readUpstreamTls(field, secrets),
    http: httpVersionOf(field),
    health: evictionOf(field, isName || isDynamic),
  })
  if (!isDynamic && endpoints.length === 0) return 'no endpoint of the cluster has a valid address'
  return { name, field, endpoints, isDynamic, policies }
}

function tcpPolicy(field: Field): object | undefined {
  const timeout = memberAt(field, 'connect_timeout')
  const seconds = secondsOf(timeout)
  if (timeout !== null && seconds === null) timeout.notCarried('the value is not a duration')
  else timeout?.carried()
  const keepalive = memberAt(field, 'upstream_connection_options', 'tcp_keepalive')
  const [retries, time, interval] = ['keepalive_probes', 'keepalive_time', 'keepalive_interval'].map((name) => {
    const found = memberAt(keepalive, name)
    const number = found?.number ?? null
    if (number === null || !Number.isInteger(number) || number < 1 || (name === 'keepalive_probes' && number > 64))
      return undefined
    found?.carried()
    return number
  })
  const probes = withoutAbsent({
    retries,
    time: time === undefined ? undefined : `${time}s`,
    interval: interval === undefined ? undefined : `${interval}s`,
  })
  const policy = withoutAbsent({
    connectTimeout: seconds === null || seconds === 0 ? undefined : durationText(seconds),
    keepalive: Object.keys(probes).length === 0 ? undefined : probes,
  })
  return Object.keys(policy).length === 0 ? undefined : policy
}

/** Returns the clusters of all files. */
export function clusterFields(roots: readonly Field[]): readonly Field[] {
  return roots.flatMap((root) => listAt(root, 'static_resources', 'clusters'))
}
