import type { Kind, Resource } from '@portico/translate'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import type { KubeError } from '../kube/kube-error.ts'
import type { ReflectorOptions } from '../kube/reflector.ts'
import { KindWatch } from './kind-watch.ts'
import { watchedKinds } from './watched-kinds.ts'

export interface WatchesOptions {
  client: KubeClient
  /** Only what is in namespaces with these labels is looked at. */
  namespaceSelector?: string
  /** An object is there or is another than before; undefined when it is gone. Not before all were read once. */
  changed: (kind: Kind, key: string, resource: Resource | undefined) => void
  /** All that there is has been told, for the first time. */
  ready: () => void
  troubled: (kind: Kind, error: KubeError) => void
  reflector?: ReflectorOptions
}

/** All kinds that translation reads. */
export class Watches {
  readonly #options: WatchesOptions
  readonly #watchByKind: ReadonlyMap<Kind, KindWatch>
  /** Kinds of which nothing is known yet. */
  readonly #unread: Set<Kind>

  constructor(options: WatchesOptions) {
    this.#options = options
    this.#unread = new Set(watchedKinds.map(({ kind }) => kind))
    this.#watchByKind = new Map(
      watchedKinds.map((watched) => {
        const { kind } = watched
        const watcher = {
          changed: (key: string, resource: Resource | undefined) => this.#changed(kind, key, resource),
          synced: () => this.#synced(kind),
          troubled: (error: KubeError) => options.troubled(kind, error),
        }
        const { namespaceSelector, reflector } = options
        const isNarrowed = kind === 'Namespace' && namespaceSelector !== undefined
        const narrowed = isNarrowed ? { labelSelector: namespaceSelector } : {}
        return [kind, new KindWatch(options.client, watched, watcher, { ...reflector, ...narrowed })]
      }),
    )
  }

  get kinds(): readonly Kind[] {
    return [...this.#watchByKind.keys()]
  }

  get isReady(): boolean {
    return this.#unread.size === 0
  }

  /** Kinds that were not read yet. */
  get unread(): readonly Kind[] {
    return [...this.#unread]
  }

  get(kind: Kind, key: string): Resource | undefined {
    const resource = this.#watchByKind.get(kind)?.items.get(key)
    return resource === undefined || !this.#isSeen(resource) ? undefined : resource
  }

  *list(kind: Kind): Generator<[string, Resource]> {
    for (const [key, resource] of this.#watchByKind.get(kind)?.items ?? []) {
      if (this.#isSeen(resource)) yield [key, resource]
    }
  }

  count(kind: Kind): number {
    return this.#watchByKind.get(kind)?.items.size ?? 0
  }

  apiOf(kind: Kind): ApiKind | null {
    return this.#watchByKind.get(kind)?.api ?? null
  }

  /** Works until the signal is raised. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#watchByKind.values()].map((watch) => watch.run(signal)))
  }

  #changed(kind: Kind, key: string, resource: Resource | undefined): void {
    if (!this.isReady) return
    if (resource === undefined || this.#isSeen(resource)) this.#options.changed(kind, key, resource)
    // With its namespace all that is in it comes, or goes.
    if (kind === 'Namespace' && this.#options.namespaceSelector !== undefined) this.#tellOf(key)
  }

  #tellOf(namespace: string): void {
    for (const [kind, { items }] of this.#watchByKind) {
      for (const [key, resource] of items) {
        if (resource.metadata.namespace !== namespace) continue
        this.#options.changed(kind, key, this.#isSeen(resource) ? resource : undefined)
      }
    }
  }

  #synced(kind: Kind): void {
    if (!this.#unread.delete(kind) || this.#unread.size > 0) return
    for (const [each, { items }] of this.#watchByKind) {
      for (const [key, resource] of items) {
        if (this.#isSeen(resource)) this.#options.changed(each, key, resource)
      }
    }
    this.#options.ready()
  }

  #isSeen({ metadata: { namespace } }: Resource): boolean {
    if (namespace === undefined || this.#options.namespaceSelector === undefined) return true
    return this.#watchByKind.get('Namespace')?.items.has(namespace) ?? false
  }
}
