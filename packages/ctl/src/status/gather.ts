import {
  keyOf,
  type Kind,
  listenerSetKinds,
  readGateway,
  readListenerSet,
  type Resource,
  routeKinds,
} from '@portico/translate'
import type { Cluster, LiveResource } from '../cluster/cluster.ts'
import { type KnownKinds, kindsOf } from '../cluster/kinds.ts'
import { ClusterProblem } from '../cluster/problem.ts'
import { backendsOf, parentsOf } from './diagnose.ts'
import { namespaceOf, ResourceView } from './resource-view.ts'

/** Kinds that are read in the namespace. */
const HERE: readonly Kind[] = [
  'Gateway',
  ...listenerSetKinds,
  ...routeKinds,
  'GwPolicy',
  'GwFilter',
  'BackendTLSPolicy',
  'XBackendTrafficPolicy',
  'XTelemetryPolicy',
  'GwBackend',
  'GwModel',
  'InferencePool',
  'XBackend',
  'Service',
  'EndpointSlice',
]

/** Kinds of backends that routes refer to. */
const BACKEND_KINDS: ReadonlySet<string> = new Set(['Service', 'GwBackend', 'GwModel', 'InferencePool', 'XBackend'])

/** Reads the resources of a namespace, and those they refer to elsewhere. Missing rights are recorded. */
export async function gather(
  cluster: Cluster,
  { withRoutesOfAll }: { withRoutesOfAll: boolean },
): Promise<ResourceView> {
  const kinds = await kindsOf(cluster)
  if (!kinds.has('Gateway')) {
    throw new ClusterProblem('the cluster has no Gateway API: install its CRDs, then the controller')
  }
  const reader = new Reader(cluster, kinds)
  const { namespace } = cluster
  await Promise.all(HERE.map((kind) => reader.list(kind, namespace)))
  // Routes of other namespaces may be attached to Gateways of this one.
  if (withRoutesOfAll) await Promise.all([...listenerSetKinds, ...routeKinds].map((kind) => reader.listAll(kind)))
  await reader.followReferences()
  return reader.world()
}

class Reader {
  readonly #cluster: Cluster
  readonly #kinds: KnownKinds
  readonly #found = new Map<string, LiveResource>()
  readonly #listed = new Set<string>()
  readonly #hidden = new Map<string, string>()

  constructor(cluster: Cluster, kinds: KnownKinds) {
    this.#cluster = cluster
    this.#kinds = kinds
  }

  async list(kind: Kind, namespace: string, labels?: Readonly<Record<string, string>>): Promise<void> {
    const api = this.#kinds.get(kind)
    const place = `${kind} ${namespace}`
    if (api === undefined || this.#listed.has(place)) return
    if (labels === undefined) this.#listed.add(place)
    await this.#allowed(place, async () => {
      this.#keep(await this.#cluster.list(api, { namespace, ...(labels && { labels }) }))
    })
  }

  async listAll(kind: Kind): Promise<void> {
    const api = this.#kinds.get(kind)
    if (api === undefined) return
    // Without this right, only the namespace is read.
    await this.#cluster.list(api, { namespace: null }).then(
      (all) => this.#keep(all),
      (error: unknown) => {
        if (!(error instanceof ClusterProblem) || error.right === null) throw error
      },
    )
  }

  async followReferences(): Promise<void> {
    const routes = routeKinds.flatMap((kind) => this.#of(kind))
    const parents = routes.flatMap(parentsOf)
    await Promise.all(parents.map((ref) => this.#get(ref.kind as Kind, `${ref.namespace}/${ref.name}`)))
    const above = listenerSetKinds.flatMap((kind) => this.#of(kind)).flatMap((set) => readListenerSet(set).parent ?? [])
    await Promise.all(above.map((ref) => this.#get('Gateway', `${ref.namespace}/${ref.name}`)))
    const gateways = this.#of('Gateway')
    const backends = routes.flatMap(backendsOf).filter(({ kind }) => BACKEND_KINDS.has(kind))
    await Promise.all([
      ...gateways.map((gateway) => this.#get('GatewayClass', readGateway(gateway).className)),
      // Policies of a Gateway are in its namespace.
      ...[...new Set(gateways.map((gateway) => gateway.metadata.namespace ?? ''))].map((each) =>
        this.list('GwPolicy', each),
      ),
      ...backends.map(async ({ kind, namespace, name }) => {
        await this.#get(kind as Kind, `${namespace}/${name}`)
        if (kind === 'Service') await this.list('EndpointSlice', namespace, { 'kubernetes.io/service-name': name })
      }),
    ])
  }

  world(): ResourceView {
    return new ResourceView({
      resources: [...this.#found.values()],
      statusOf: (_kind, resource) => (resource as LiveResource).status,
      isOffline: false,
      hidden: this.#hidden,
    })
  }

  #of(kind: Kind): Resource[] {
    return [...this.#found.values()].filter((each) => each.kind === kind)
  }

  async #get(kind: Kind, key: string): Promise<void> {
    const api = this.#kinds.get(kind)
    const isKnown = this.#found.has(`${kind} ${key}`) || this.#listed.has(`${kind} ${namespaceOf(key)}`)
    if (api === undefined || isKnown) return
    const [name = '', namespace] = key.split('/').toReversed()
    await this.#allowed(`${kind} ${namespace ?? ''}`, async () => {
      const found = await this.#cluster.get(api, name, namespace)
      if (found !== undefined) this.#keep([found])
    })
  }

  #keep(resources: readonly LiveResource[]): void {
    for (const resource of resources) this.#found.set(`${resource.kind} ${keyOf(resource)}`, resource)
  }

  async #allowed(place: string, read: () => Promise<void>): Promise<void> {
    try {
      await read()
    } catch (error) {
      if (!(error instanceof ClusterProblem) || error.right === null) throw error
      this.#hidden.set(place, error.right)
    }
  }
}
