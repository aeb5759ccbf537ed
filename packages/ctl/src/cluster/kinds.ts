import type { ApiKind } from '@portico/controller/kube'
import { groupByKind, type Kind } from '@portico/translate'
import type { Cluster } from './cluster.ts'

/** Kinds of Kubernetes itself, whose versions are fixed. */
const FIXED: Partial<Record<Kind, ApiKind>> = {
  Service: { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true },
  EndpointSlice: {
    group: 'discovery.k8s.io',
    version: 'v1',
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    namespaced: true,
  },
}

export type KnownKinds = ReadonlyMap<Kind, ApiKind>

/** Returns the kinds that the cluster serves, each in its preferred version. */
export async function kindsOf(cluster: Cluster): Promise<KnownKinds> {
  const groups = ['gateway.networking.k8s.io', 'portico.dev']
  const found = await Promise.all(groups.map((group) => kindsOfGroup(cluster, group)))
  const fixed = Object.entries(FIXED).map(([kind, api]) => [kind as Kind, api] as const)
  return new Map([...fixed, ...found.flat()])
}

interface Group {
  preferredVersion?: { version?: string }
  versions?: { version: string }[]
}

interface ResourceList {
  resources?: { name: string; kind: string; namespaced: boolean }[]
}

async function kindsOfGroup(cluster: Cluster, group: string): Promise<[Kind, ApiKind][]> {
  const { preferredVersion, versions = [] } = ((await cluster.ask(`/apis/${group}`)) ?? {}) as Group
  const preferred = preferredVersion?.version
  const order = versions.map(({ version }) => version).toSorted((one) => (one === preferred ? -1 : 0))
  const lists = await Promise.all(
    order.map(async (version) => ({ version, list: (await cluster.ask(`/apis/${group}/${version}`)) as ResourceList })),
  )
  const kinds = new Map<Kind, ApiKind>()
  for (const { version, list } of lists) {
    for (const { name, kind, namespaced } of list?.resources ?? []) {
      const isOurs = Object.hasOwn(groupByKind, kind) && groupByKind[kind as Kind] === group && !name.includes('/')
      if (isOurs && !kinds.has(kind as Kind)) {
        kinds.set(kind as Kind, { group, version, kind, plural: name, namespaced })
      }
    }
  }
  return [...kinds]
}
