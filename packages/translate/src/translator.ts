import type { Ir } from '@portico/gateway/ir'
import { Graph } from './graph/graph.ts'
import { type Kind, kindOf } from './resources/kinds.ts'
import { ResourceStore } from './resources/lookups.ts'
import { keyOf, type Resource } from './resources/resource.ts'
import type { Status } from './resources/status.ts'
import type { Context, Query, TranslateSettings } from './translate/context.ts'
import { gatewayConfig } from './translate/gateway.ts'
import { gatewayClassStatus } from './translate/gateway-class.ts'
import { indexTable } from './translate/indexes.ts'

/** What has become of all resources. */
export interface Translated {
  /** By `namespace/name`; one data plane serves one Gateway. */
  gateways: ReadonlyMap<string, Ir>
  /** By `Kind/namespace/name`; only of resources that are ours to speak of. */
  statuses: ReadonlyMap<string, Status>
}

/** Keys of what is not as it was, or is gone. */
export interface TranslatedChange {
  gateways: string[]
  statuses: string[]
}

/** Null for what is not ours. */
const statusByKind: Partial<Record<Kind, Query<Status | null>>> = {
  GatewayClass: gatewayClassStatus,
}

/** Resources in, in any order; configs of Gateways and statuses out. A change costs what it touches. */
export class Translator implements Translated {
  readonly gateways = new Map<string, Ir>()
  readonly statuses = new Map<string, Status>()
  readonly #graph: Graph<Context>
  readonly #store: ResourceStore<Context>
  readonly #gone: TranslatedChange = { gateways: [], statuses: [] }

  constructor(settings: TranslateSettings) {
    const store = new ResourceStore<Context>(indexTable, (input, arg) => this.#graph.invalidate(input, arg))
    this.#store = store
    this.#graph = new Graph((read) => ({ ...store.lookups(read), read, settings }))
  }

  /** A resource that is new or has changed. What translation does not read is ignored. */
  put(resource: Resource): void {
    const kind = kindOf(resource)
    if (kind === null) return
    const key = keyOf(resource)
    this.#store.put(resource)
    const status = statusByKind[kind]
    if (status !== undefined) this.#graph.watch(status, key)
    if (kind === 'Gateway') this.#graph.watch(gatewayConfig, key)
  }

  drop(kind: Kind, key: string): void {
    this.#store.drop(kind, key)
    const status = statusByKind[kind]
    if (status !== undefined) this.#graph.unwatch(status, key)
    if (this.statuses.delete(`${kind}/${key}`)) this.#gone.statuses.push(`${kind}/${key}`)
    if (kind !== 'Gateway') return
    this.#graph.unwatch(gatewayConfig, key)
    if (this.gateways.delete(key)) this.#gone.gateways.push(key)
  }

  /** Brings configs and statuses up to date with all that was put and dropped. */
  settle(): TranslatedChange {
    const gateways = new Set(this.#gone.gateways.splice(0))
    const statuses = new Set(this.#gone.statuses.splice(0))
    for (const { query, arg } of this.#graph.settle()) {
      if (query === gatewayConfig) {
        if (keep(this.gateways, arg, this.#graph.read(gatewayConfig, arg))) gateways.add(arg)
        continue
      }
      for (const [kind, status] of Object.entries(statusByKind)) {
        if (query !== status) continue
        const id = `${kind}/${arg}`
        if (keep(this.statuses, id, this.#graph.read(status, arg))) statuses.add(id)
      }
    }
    return { gateways: [...gateways].toSorted(), statuses: [...statuses].toSorted() }
  }
}

/** False when there was nothing and is nothing. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value | null): boolean {
  if (value === null) return map.delete(key)
  map.set(key, value)
  return true
}
