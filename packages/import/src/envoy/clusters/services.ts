import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Cluster, Clusters } from './clusters.ts'

/** Services that the gateway itself calls. A cluster with policies becomes a backend with a name. */
export class Services {
  readonly #clusters: Clusters
  readonly #backends = new Map<string, object>()

  constructor(clusters: Clusters) {
    this.#clusters = clusters
  }

  /** The reference to a cluster; a text says why there is none. */
  refOf(cluster: string): { host: string } | { name: string } | string {
    const found = this.#single(cluster)
    if (typeof found === 'string') return found
    const { tcp: _tcp, http: _http, ...policies } = found.policies
    const [first] = found.endpoints
    return Object.keys(policies).length === 0 && first !== undefined ? { host: first.host } : this.#register(found)
  }

  /** The name of a backend for a cluster; a text with `why` says why there is none. */
  nameOf(cluster: string): { name: string } | string {
    const found = this.#single(cluster)
    return typeof found === 'string' ? found : this.#register(found)
  }

  /** The `backends` of the config; undefined without any. */
  get backends(): object[] | undefined {
    return this.#backends.size === 0 ? undefined : [...this.#backends.values()]
  }

  #single(cluster: string): Cluster | string {
    const found = this.#clusters(cluster)
    if (typeof found === 'string') return found
    if (found.isDynamic) return 'the destination of the cluster is not fixed'
    return found
  }

  #register({ name: text, endpoints, policies }: Cluster): { name: string } {
    const name =
      text
        .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
        .replaceAll(/^[-.]+|[-.]+$/g, '')
        .slice(0, 63) || 'service'
    const host = endpoints[0]?.host ?? ''
    const [, address = '', port = ''] = /^(.*):(\d+)$/.exec(host) ?? []
    const destination = host.startsWith('unix:')
      ? { unixPath: host.slice('unix:'.length) }
      : { host: address.replaceAll(/[[\]]/g, ''), port: Number(port) }
    this.#backends.set(
      name,
      withoutAbsent({
        name,
        static: destination,
        policies: Object.keys(policies).length === 0 ? undefined : policies,
      }),
    )
    return { name }
  }
}
