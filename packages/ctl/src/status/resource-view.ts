import { type Kind, keyOf, kindOf, type Resource } from '@portico/translate'

/** Returns the status of a resource, from a cluster or from translation. The content is untrusted. */
type StatusOf = (kind: Kind, resource: Resource) => unknown

interface WorldParts {
  resources: readonly Resource[]
  statusOf: StatusOf
  /** Whether the resources come from files only; Services need no addresses then. */
  isOffline: boolean
  /** Missing rights, by `Kind namespace`. */
  hidden?: ReadonlyMap<string, string>
}

/** All known resources of a cluster or of files. */
export class ResourceView {
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

  /** The right that is missing to know whether an object exists; undefined when that is known. */
  hiddenBy(kind: Kind, key: string): string | undefined {
    return this.#hidden.get(`${kind} ${namespaceOf(key)}`)
  }
}

/** The namespace of a key; empty for cluster-scoped kinds. */
export function namespaceOf(key: string): string {
  return key.slice(0, Math.max(key.indexOf('/'), 0))
}
