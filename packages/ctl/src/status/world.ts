import { type Kind, keyOf, kindOf, type Resource } from '@portico/translate'

/** What a resource has as its status, wherever that comes from. Nothing of it is trusted. */
export type StatusOf = (kind: Kind, resource: Resource) => unknown

export interface WorldParts {
  resources: readonly Resource[]
  statusOf: StatusOf
  /** Whether files are all there is: then Services need no addresses. */
  isOffline: boolean
  /** Rights that are missing, by `Kind namespace`. */
  hidden?: ReadonlyMap<string, string>
}

/** All that is known of a cluster, or of files. */
export class World {
  readonly isOffline: boolean
  readonly statusOf: StatusOf
  readonly #byKind = new Map<Kind, Map<string, Resource>>()
  readonly #hidden: ReadonlyMap<string, string>

  constructor({ resources, statusOf, isOffline, hidden = new Map() }: WorldParts) {
    this.isOffline = isOffline
    this.statusOf = statusOf
    this.#hidden = hidden
    for (const resource of resources) {
      const kind = kindOf(resource)
      if (kind === null) continue
      const known = this.#byKind.get(kind) ?? new Map<string, Resource>()
      known.set(keyOf(resource), resource)
      this.#byKind.set(kind, known)
    }
  }

  get(kind: Kind, key: string): Resource | undefined {
    return this.#byKind.get(kind)?.get(key)
  }

  list(kind: Kind, namespace?: string): Resource[] {
    const all = [...(this.#byKind.get(kind)?.values() ?? [])]
    const own = namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace)
    return own.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  }

  /** The right that would be needed to know of an object; undefined when it is known whether it is there. */
  hiddenBy(kind: Kind, key: string): string | undefined {
    return this.#hidden.get(`${kind} ${namespaceOf(key)}`)
  }
}

/** Empty for kinds without one. */
export function namespaceOf(key: string): string {
  return key.slice(0, Math.max(key.indexOf('/'), 0))
}
