import type { Resource } from '@portico/translate'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { isStatus, type KubeError } from '../kube/kube-error.ts'
import { Reflector, type ReflectorOptions, type Watcher } from '../kube/reflector.ts'

export interface NamespacedWatcher extends Watcher {
  /** The server refuses to list the kind in a namespace where it was never read; null once it was. */
  denied?(namespace: string, error: KubeError | null): void
}

export interface NamespacedReflectorOptions extends Omit<ReflectorOptions, 'namespace'> {
  namespaces: readonly string[]
}

/**
 * The objects of one kind in several namespaces: a list and a watch for each, so that rights in these namespaces are
 * enough. A namespace without such rights counts as read, and is tried again.
 */
export class NamespacedReflector {
  readonly #items: Map<string, Resource>
  readonly #reflectors: readonly Reflector[]
  readonly #watcher: NamespacedWatcher
  /** Namespaces of which nothing is known yet. */
  readonly #unread: Set<string>
  readonly #denied = new Set<string>()
  #isMissing = false

  constructor(
    client: KubeClient,
    kind: ApiKind,
    watcher: NamespacedWatcher,
    { namespaces, known, ...options }: NamespacedReflectorOptions,
  ) {
    this.#items = new Map(known)
    this.#watcher = watcher
    this.#unread = new Set(namespaces)
    this.#reflectors = namespaces.map((namespace) => {
      const inside = [...(known ?? [])].filter(([, { metadata }]) => metadata.namespace === namespace)
      const reported = this.#watcherOf(namespace)
      return new Reflector(client, kind, reported, { ...options, namespace, known: new Map(inside) })
    })
  }

  get items(): ReadonlyMap<string, Resource> {
    return this.#items
  }

  /** Works until the signal is raised, or, if so wished, until the kind is missing. */
  async run(signal: AbortSignal): Promise<void> {
    // A reflector that ends has found that the API server lacks the kind, so all reflectors end.
    const ended = new AbortController()
    const inner = AbortSignal.any([signal, ended.signal])
    const runs = this.#reflectors.map((reflector) => reflector.run(inner).finally(() => ended.abort()))
    const failed = (await Promise.allSettled(runs)).find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  #watcherOf(namespace: string): Watcher {
    return {
      changed: (key, resource) => {
        if (resource === undefined) this.#items.delete(key)
        else this.#items.set(key, resource)
        this.#watcher.changed(key, resource)
      },
      synced: (isMissing) => {
        this.#isMissing = isMissing
        if (this.#denied.delete(namespace)) this.#watcher.denied?.(namespace, null)
        this.#read(namespace)
      },
      troubled: (error) => {
        this.#watcher.troubled(error)
        // Objects that were read before stay valid: an API server that starts may answer 403 for a while.
        if (!isStatus(error, 403) || !(this.#unread.has(namespace) || this.#denied.has(namespace))) return
        this.#denied.add(namespace)
        this.#watcher.denied?.(namespace, error)
        this.#read(namespace)
      },
    }
  }

  #read(namespace: string): void {
    this.#unread.delete(namespace)
    if (this.#unread.size === 0) this.#watcher.synced(this.#isMissing)
  }
}
