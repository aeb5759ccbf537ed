import type { Resource } from '@portico/translate'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { isStatus, type KubeError } from '../kube/kube-error.ts'
import { Reflector, type ReflectorOptions, type Watcher } from '../kube/reflector.ts'

export interface NamespacedWatcher extends Watcher {
  /** Called when the server denies listing the kind in a namespace that was never read; with null once it is read. */
  denied?(namespace: string, error: KubeError | null): void
}

interface NamespacedReflectorOptions extends Omit<ReflectorOptions, 'namespace'> {
  namespaces: readonly string[]
}

/**
 * Mirrors one kind in several namespaces, with a list and a watch for each, so that rights in these namespaces suffice. A
 * namespace without rights counts as read, and is retried.
 */
export class NamespacedReflector {
  readonly #items: Map<string, Resource>
  readonly #reflectors: readonly Reflector[]
  readonly #watcher: NamespacedWatcher
  /** Namespaces that were not read yet. */
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

  /** Runs until the signal aborts, or with `untilMissing` until the kind is missing. */
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
      onError: (error) => {
        this.#watcher.onError(error)
        // Objects that were read stay valid: a starting API server may answer 403 for a while.
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
