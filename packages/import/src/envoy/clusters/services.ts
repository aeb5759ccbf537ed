import { withoutAbsent } from '../../core/config-yaml.ts'
import type { Cluster, Clusters } from './clusters.ts'

/** Finds the services that policies call. A cluster with policies of its own becomes a named backend. */
export class Services {
  readonly #clusters: Clusters
  readonly #backends = new Map<string, object>()

  constructor(clusters: Clusters) {
    this.#clusters = clusters
  }

  /**
   * Returns a reference to a cluster: an address, or the name of a backend. Returns the reason as a string when the
   * cluster cannot be called.
   */
  refOf(cluster: string): { host: string } | { name: string } | string {
    const found = this.#single(cluster)
    if (typeof found === 'string') return found
    const { tcp: _tcp, http: _http, ...policies } = found.policies
    const [first] = found.endpoints
    return Object.keys(policies).length === 0 && first !== undefined ? { host: first.host } : this.#register(found)
  }

  /**
   * Makes a cluster a named backend, and returns the name; returns the reason as a string when the cluster cannot be
   * called.
   */
  nameOf(cluster: string): { name: string } | string {
    const found = this.#single(cluster)
    return typeof found === 'string' ? found : this.#register(found)
  }

  /** The `backends` section of the config; undefined when no cluster became a named backend. */
  get backends(): object[] | undefined {
    return this.#backends.size === 0 ? undefined : [...this.#backends.values()]
  }

  #single(cluster: string): Cluster | string {
    const found = this.#clusters(cluster)
    if (typeof found === 'string') return found
    if (found.isDynamic) return 'the cluster has no fixed destination'
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
