import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Field } from '../../core/yaml-field.ts'
import { hostPortOf } from '../../http/addresses.ts'
import type { Cluster, Clusters } from './clusters.ts'
import { commonDivisor, wholeWeights } from './endpoints.ts'
import { listAt, memberAt, takeText } from '../messages/message.ts'

interface Backend {
  readonly host?: string
  readonly dynamicForwardProxy?: object
  readonly weight?: number
  readonly policies: Readonly<Record<string, unknown>>
}

/** The backends of a route or a TCP proxy. */
interface Destinations {
  readonly backends: readonly Backend[]
  /** The addresses that generated tests expect; null when each request decides its destination. */
  readonly addresses: readonly string[] | null
}

interface Share {
  readonly cluster: Cluster
  readonly weight: number
  readonly policies: Readonly<Record<string, unknown>>
}

/**
 * Reads the backends of a route or a TCP proxy; returns the reason as a string when the backends cannot be imported.
 */
export function destinationsOf(action: Field, clusters: Clusters): Destinations | string {
  for (const name of ['cluster_header', 'cluster_specifier_plugin', 'inline_cluster_specifier_plugin']) {
    const field = memberAt(action, name)
    if (field === null) continue
    field.notCarried("the gateway's routes name their backends in the config")
    return 'the cluster depends on the request'
  }
  const shares = sharesOf(action, clusters)
  if (typeof shares === 'string') return shares
  const isDynamic = shares.some(({ cluster }) => cluster.isDynamic)
  // The weight of a cluster is divided among its endpoints, in proportion to the weights of the endpoints.
  const sums = shares.map(({ cluster }) => cluster.endpoints.reduce((total, { weight }) => total + weight, 0))
  const multiple = sums.reduce((one, other) => (one * Math.max(other, 1)) / commonDivisor(one, Math.max(other, 1)), 1)
  const found = shares.flatMap(({ cluster, weight, policies }, index): (Backend & { weight: number })[] => {
    const own = { ...cluster.policies, ...policies }
    if (cluster.isDynamic) return [{ dynamicForwardProxy: {}, weight: weight * multiple, policies: own }]
    const scale = multiple / Math.max(sums[index] ?? 1, 1)
    return cluster.endpoints.map(({ host, weight: share }) => ({
      host,
      weight: weight * share * scale,
      policies: own,
    }))
  })
  if (found.length > 64) return 'a route has at most 64 backends'
  const weighted = wholeWeights(found).map(({ weight, ...each }): Backend =>
    weight === 1 ? each : withoutAbsent({ ...each, weight }),
  )
  const addresses = weighted.flatMap((each) => (each.weight === 0 ? [] : (each.host ?? [])))
  return { backends: weighted, addresses: isDynamic || addresses.length === 0 ? null : addresses }
}

function sharesOf(action: Field, clusters: Clusters): Share[] | string {
  const single = memberAt(action, 'cluster')
  if (single !== null) {
    const cluster = clusters(single.text ?? '')
    if (typeof cluster === 'string') {
      single.notCarried(cluster)
      return cluster
    }
    single.carried()
    return [{ cluster, weight: 1, policies: {} }]
  }
  const weighted = memberAt(action, 'weighted_clusters')
  memberAt(weighted, 'total_weight')?.carried('the gateway computes the sum of the weights')
  memberAt(weighted, 'runtime_key_prefix')?.notCarried('the gateway has no runtime values')
  const found: Share[] = []
  for (const entry of listAt(weighted, 'clusters')) {
    const share = shareOf(entry, clusters)
    if (typeof share === 'string') return share
    found.push(share)
  }
  return found.length === 0 ? 'the route has no cluster' : found
}

function shareOf(entry: Field, clusters: Clusters): Share | string {
  const name = memberAt(entry, 'name')
  const cluster = clusters(takeText(entry, 'name') ?? '')
  if (typeof cluster === 'string') {
    name?.notCarried(cluster)
    return cluster
  }
  const weight = memberAt(entry, 'weight')
  weight?.carried()
  const host = memberAt(entry, 'host_rewrite_literal')
  const isHost = hostPortOf(host?.text ?? '', 80) !== null
  if (isHost) host?.carried()
  for (const [key, note] of Object.entries(NOTES))
    memberAt(entry, key)?.notCarried(note, key === 'typed_per_filter_config')
  if (memberAt(entry, 'metadata_match') !== null) return "the gateway's backends have no subsets"
  return {
    ...{ cluster, weight: weight?.number ?? 0 },
    policies: isHost ? { urlRewrite: { authority: { full: host?.text } } } : {},
  }
}

const NOTES: Readonly<Record<string, string>> = {
  request_headers_to_add: 'configure a transformation for the backend',
  request_headers_to_remove: 'configure a transformation for the backend',
  response_headers_to_add: 'configure a transformation for the backend',
  response_headers_to_remove: 'configure a transformation for the backend',
  typed_per_filter_config: 'filters use the config of the route for all of its clusters',
  metadata_match: "the gateway's backends have no subsets",
}
