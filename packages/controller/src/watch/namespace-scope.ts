import type { Kind, Resource } from '@portico/translate'
import type { KubeError } from '../kube/kube-error.ts'
import type { WatchedKind } from './watched-kinds.ts'

export interface NamespaceScopeOptions {
  /** The namespace of the controller, of its Service and of the parameters of its class. */
  ownNamespace: string
  /** The only namespaces, besides its own, in which the controller has rights; all when omitted. */
  namespaces?: readonly string[]
  /** Limits the controller to namespaces with these labels; all when omitted. */
  namespaceSelector?: string
  /** Whether a namespace has these labels. */
  isSelected: (namespace: string) => boolean
}

/** Kinds that are read in all namespaces, so that unserved Gateways get a status with the reason. */
const EVERYWHERE: ReadonlySet<Kind> = new Set<Kind>(['Gateway'])
/** Kinds that are always read in the namespace of the controller. */
const OWN: ReadonlySet<Kind> = new Set<Kind>(['EndpointSlice', 'GwParameters'])

/**
 * Decides which namespaces are served: by the list of namespaces with rights, by labels, and by the rights that the server
 * grants.
 */
export class NamespaceScope {
  readonly #options: NamespaceScopeOptions
  readonly #namespaces: ReadonlySet<string> | null
  /** Why a listed namespace cannot be read, by kind. */
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

  /**
   * Whether a resource is read: it is in a served namespace, is cluster-scoped, or is of a kind that is always read in
   * the controller's namespace.
   */
  includes(resource: Resource): boolean {
    const { namespace } = resource.metadata
    if (namespace === undefined) return true
    if (namespace === this.#options.ownNamespace && isKindOf(OWN, resource.kind)) return true
    return this.#isSelected(namespace) && this.#whyClosed(namespace) === null
  }

  /** Why a resource is not served; null when it is served, or when labels leave it to others. */
  whyUnserved({ metadata: { namespace = '' } }: Resource): string | null {
    return this.#isSelected(namespace) ? this.#whyClosed(namespace) : null
  }

  /** Records a 403, or null once the kind can be read; returns whether that changes the namespace. */
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
