import type { Kind, Resource } from '@portico/translate'
import type { KubeError } from '../kube/kube-error.ts'
import type { WatchedKind } from './watched-kinds.ts'

export interface NamespaceScopeOptions {
  /** The namespace of the controller, of its Service and of the parameters of its class. */
  ownNamespace: string
  /** The controller has rights in these alone, and in its own; everywhere when left out. */
  namespaces?: readonly string[]
  /** Only what is in namespaces with these labels counts; everything when left out. */
  namespaceSelector?: string
  /** Whether a namespace has these labels. */
  isSelected: (namespace: string) => boolean
}

/** Read in all namespaces, also where the controller may do nothing else: Gateways are told why they are not served. */
const EVERYWHERE: ReadonlySet<Kind> = new Set<Kind>(['Gateway'])
/** Read in the namespace of the controller whatever the settings are. */
const OWN: ReadonlySet<Kind> = new Set<Kind>(['EndpointSlice', 'GwParameters'])

/** Which namespaces count: by list, which is also that of the rights, by labels, and by what the server allows. */
export class NamespaceScope {
  readonly #options: NamespaceScopeOptions
  readonly #namespaces: ReadonlySet<string> | null
  /** Why a namespace of the list cannot be read, by kind. */
  readonly #denials = new Map<string, Map<Kind, string>>()

  constructor(options: NamespaceScopeOptions) {
    this.#options = options
    this.#namespaces = options.namespaces === undefined ? null : new Set(options.namespaces)
  }

  /** Returns the selector and the namespaces that requests for a kind are limited to. */
  narrow({ kind, namespaced }: WatchedKind): { labelSelector?: string; namespaces?: readonly string[] } {
    const { namespaceSelector, ownNamespace } = this.#options
    if (kind === 'Namespace' && namespaceSelector !== undefined) return { labelSelector: namespaceSelector }
    if (this.#namespaces === null || !namespaced || EVERYWHERE.has(kind)) return {}
    return { namespaces: [...(OWN.has(kind) ? this.#namespaces.union(new Set([ownNamespace])) : this.#namespaces)] }
  }

  /** Whether a resource counts. */
  includes(resource: Resource): boolean {
    const { namespace } = resource.metadata
    if (namespace === undefined) return true
    if (namespace === this.#options.ownNamespace && isKindOf(OWN, resource.kind)) return true
    return this.#isSelected(namespace) && this.#whyClosed(namespace) === null
  }

  /** Null for a resource that is served, and for one that the labels leave to others. */
  whyUnserved({ metadata: { namespace = '' } }: Resource): string | null {
    return this.#isSelected(namespace) ? this.#whyClosed(namespace) : null
  }

  /** The error is null once the kind can be read. True when that makes a difference to the namespace. */
  deny(kind: Kind, namespace: string, error: KubeError | null): boolean {
    const before = this.#whyClosed(namespace)
    const denials = this.#denials.get(namespace) ?? new Map<Kind, string>()
    if (error === null) denials.delete(kind)
    else denials.set(kind, error.message)
    if (denials.size === 0) this.#denials.delete(namespace)
    else this.#denials.set(namespace, denials)
    return this.#whyClosed(namespace) !== before
  }

  #isSelected(namespace: string): boolean {
    return this.#options.namespaceSelector === undefined || this.#options.isSelected(namespace)
  }

  #whyClosed(namespace: string): string | null {
    if (this.#namespaces === null) return null
    if (!this.#namespaces.has(namespace))
      return `The controller has no rights in namespace ${namespace}: it is not in the list of namespaces`
    const [denial] = this.#denials.get(namespace)?.values() ?? []
    return denial === undefined ? null : `The controller lacks rights in namespace ${namespace}: ${denial}`
  }
}

function isKindOf(kinds: ReadonlySet<string>, kind: string): boolean {
  return kinds.has(kind)
}
