import type { Query, Read } from '../graph/graph.ts'
import { type Kind, kindOf } from './kinds.ts'
import { isMaterialKind } from './material.ts'
import { keyOf, type Resource } from './resource.ts'

/** Access to resources. Every read is recorded, so that a change invalidates its dependents. */
export interface Lookups {
  /** Returns a resource by `namespace/name`, or by name for cluster-scoped kinds. */
  get(kind: Kind, key: string): Resource | undefined
  /** Lists resources sorted by key. */
  list(kind: Kind, index?: Index): readonly Resource[]
  /** Like `list`, but a change inside a resource does not invalidate the reader. */
  keys(kind: Kind, index?: Index): readonly string[]
}

export interface Index {
  by: string
  value: string
}

/** Index values of resources, by kind and name of the index. The index `namespace` is built in, and keys need none. */
export type IndexTable = Partial<Record<Kind, Readonly<Record<string, (resource: Resource) => readonly string[]>>>>

type InputChanged<Context> = (input: Query<Context, unknown>, arg: string) => void

/** All current resources, as inputs of a graph. */
export class ResourceStore<Context> {
  readonly #table: IndexTable
  readonly #byKind = new Map<Kind, Map<string, Resource>>()
  /** Keys of resources, by kind, name of the index, and value. */
  readonly #keysByIndex = new Map<string, Set<string>>()
  readonly #changed: InputChanged<Context>
  readonly #resource: Query<Context, Resource | undefined> = {
    name: 'resource',
    compute: (_context, arg) => this.#at(arg),
  }
  /** Secrets and ConfigMaps, by `kind namespace/name`. A separate query, so that the referenced ones are known. */
  readonly material: Query<Context, Resource | undefined> = {
    name: 'material',
    compute: (_context, arg) => this.#at(arg),
  }
  readonly #keys: Query<Context, readonly string[]> = {
    name: 'keys',
    compute: (_context, arg) => [...(this.#keysByIndex.get(arg) ?? [])].toSorted(),
  }

  constructor(table: IndexTable, changed: InputChanged<Context>) {
    this.#table = table
    this.#changed = changed
  }

  /** Stores a resource and returns the one it replaces; ignores kinds that translation does not read. */
  put(resource: Resource): Resource | undefined {
    const kind = kindOf(resource)
    return kind === null ? undefined : this.#replace(kind, keyOf(resource), resource)
  }

  drop(kind: Kind, key: string): Resource | undefined {
    return this.#replace(kind, key, undefined)
  }

  find(kind: Kind, key: string): Resource | undefined {
    return this.#byKind.get(kind)?.get(key)
  }

  has(kind: Kind, key: string): boolean {
    return this.#byKind.get(kind)?.has(key) ?? false
  }

  keysOf(kind: Kind): string[] {
    return [...(this.#byKind.get(kind)?.keys() ?? [])]
  }

  /** Whether only the metadata of a Secret or ConfigMap is known. */
  isPartial(arg: string): boolean {
    return this.#at(arg)?.isPartial === true
  }

  lookups(read: Read<Context>): Lookups {
    const get = (kind: Kind, key: string): Resource | undefined => read(this.#inputOf(kind), `${kind} ${key}`)
    const keys = (kind: Kind, index?: Index): readonly string[] => read(this.#keys, indexKey(kind, index))
    return { get, keys, list: (kind, index) => keys(kind, index).flatMap((key) => get(kind, key) ?? []) }
  }

  #replace(kind: Kind, key: string, resource: Resource | undefined): Resource | undefined {
    let byKey = this.#byKind.get(kind)
    if (byKey === undefined) this.#byKind.set(kind, (byKey = new Map()))
    const before = byKey.get(key)
    if (resource === undefined) byKey.delete(key)
    else byKey.set(key, resource)
    const [from, to] = [this.#indexKeys(kind, before), this.#indexKeys(kind, resource)]
    for (const index of from.difference(to)) this.#unindex(index, key)
    for (const index of to.difference(from)) this.#index(index, key)
    if (before !== resource) this.#changed(this.#inputOf(kind), `${kind} ${key}`)
    return before
  }

  #inputOf(kind: Kind): Query<Context, Resource | undefined> {
    return isMaterialKind(kind) ? this.material : this.#resource
  }

  #at(arg: string): Resource | undefined {
    const [kind, key] = cut(arg)
    return this.#byKind.get(kind as Kind)?.get(key)
  }

  #index(index: string, key: string): void {
    const keys = this.#keysByIndex.get(index)
    if (keys === undefined) this.#keysByIndex.set(index, new Set([key]))
    else keys.add(key)
    this.#changed(this.#keys, index)
  }

  #unindex(index: string, key: string): void {
    const keys = this.#keysByIndex.get(index)
    keys?.delete(key)
    if (keys?.size === 0) this.#keysByIndex.delete(index)
    this.#changed(this.#keys, index)
  }

  #indexKeys(kind: Kind, resource: Resource | undefined): Set<string> {
    if (resource === undefined) return new Set()
    const { namespace } = resource.metadata
    const found = new Set([indexKey(kind)])
    if (namespace !== undefined) found.add(indexKey(kind, { by: 'namespace', value: namespace }))
    for (const [by, valuesOf] of Object.entries(this.#table[kind] ?? {})) {
      for (const value of valuesOf(resource)) found.add(indexKey(kind, { by, value }))
    }
    return found
  }
}

function indexKey(kind: Kind, index?: Index): string {
  return index === undefined ? kind : `${kind} ${index.by} ${index.value}`
}

function cut(text: string): [string, string] {
  const space = text.indexOf(' ')
  return [text.slice(0, space), text.slice(space + 1)]
}
