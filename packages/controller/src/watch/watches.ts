import { isObject } from '@portico/http/json'
import type { Kind, Resource } from '@portico/translate'
import { valueAt } from '@portico/translate/json'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import type { KubeError } from '../kube/kube-error.ts'
import type { ReflectorOptions } from '../kube/reflector.ts'
import { KindWatch } from './kind-watch.ts'
import { NamespaceScope, type NamespaceScopeOptions } from './namespace-scope.ts'
import { podPart } from './pod-part.ts'
import { PODS, type WatchedKind, watchedKinds } from './watched-kinds.ts'

interface WatchesOptions extends Omit<NamespaceScopeOptions, 'isSelected'> {
  client: KubeClient
  /**
   * Called when an object is added or changed, with undefined when it is deleted. Nothing is reported until all kinds
   * were read once; then all objects are, followed by `ready`.
   */
  changed: (kind: Kind, key: string, resource: Resource | undefined) => void
  /** Called when a Gateway appears in, or disappears from, a namespace that is not served. */
  unservedChanged: (gateway: string) => void
  /** Called once, when all existing objects were reported to `changed`. */
  ready: () => void
  onError: (kind: Kind, error: KubeError) => void
  reflector?: ReflectorOptions
}

/** Watches all kinds that translation reads; Pods only while a Gateway, a pool or an XBackend needs them. */
export class Watches {
  readonly #options: WatchesOptions
  readonly #scope: NamespaceScope
  readonly #watchByKind: Map<Kind, KindWatch>
  /** Ends with the watches. */
  #signal = AbortSignal.abort()
  /** Stops the watch of Pods; null while Pods are not watched. */
  #podStop: AbortController | null = null
  #podRun: Promise<void> = Promise.resolve()
  /** Kinds that were not read yet. */
  readonly #unread: Set<Kind>

  constructor(options: WatchesOptions) {
    this.#options = options
    const isSelected = (namespace: string): boolean => this.#watchByKind.get('Namespace')?.items.has(namespace) ?? false
    this.#scope = new NamespaceScope({ ...options, isSelected })
    this.#unread = new Set(watchedKinds.map(({ kind }) => kind))
    this.#watchByKind = new Map(watchedKinds.map((watched) => [watched.kind, this.#createWatch(watched)]))
  }

  #createWatch(watched: WatchedKind): KindWatch {
    const { kind } = watched
    const { client, reflector, onError } = this.#options
    const watcher = {
      changed: (key: string, resource: Resource | undefined) => this.#changed(kind, key, resource),
      synced: () => this.#synced(kind),
      onError: (error: KubeError) => onError(kind, error),
      denied: (namespace: string, error: KubeError | null) => this.#denied(kind, namespace, error),
    }
    return new KindWatch(client, watched, watcher, { ...reflector, ...this.#scope.narrow(watched) })
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

  /** A Gateway that is not served because of its namespace, and the reason. */
  unserved(key: string): { gateway: Resource; reason: string } | undefined {
    const gateway = this.#watchByKind.get('Gateway')?.items.get(key)
    const reason = gateway === undefined ? null : this.#scope.whyUnserved(gateway)
    return gateway === undefined || reason === null ? undefined : { gateway, reason }
  }

  unservedGateways(): string[] {
    const gateways = this.#watchByKind.get('Gateway')?.items.keys() ?? []
    return [...gateways].filter((key) => this.unserved(key) !== undefined)
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

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    await Promise.all([...this.#watchByKind.values()].map((watch) => watch.run(signal)))
    await this.#podRun
  }

  /** Starts or stops the watch of Pods; returns whether Pods are needed. */
  #updatePods(): boolean {
    const parameters = this.#watchByKind.get('GwParameters')?.items.values() ?? []
    const isMeshed = [...parameters].some(({ spec }) => isObject(valueAt(spec, 'mesh')))
    const backends = this.#watchByKind.get('XBackend')?.items.values() ?? []
    const isSelected = [...backends].some(({ spec }) => isObject(valueAt(spec, 'endpointSelector')))
    const isNeeded = isMeshed || isSelected || this.count('InferencePool') > 0
    if (isNeeded && this.#podStop === null) this.#startPods()
    if (!isNeeded && this.#podStop !== null) this.#stopPods(this.#podStop)
    return isNeeded
  }

  #startPods(): void {
    const { client, reflector, onError } = this.#options
    const stop = new AbortController()
    const unread = (error: KubeError): void => {
      onError('Pod', error)
      // Without rights for Pods, Gateways of the mesh and pools have no endpoints; other Gateways must not wait.
      this.#synced('Pod')
    }
    const watcher = {
      changed: (key: string, resource: Resource | undefined) => {
        if (!stop.signal.aborted) this.#changed('Pod', key, resource)
      },
      synced: () => this.#synced('Pod'),
      onError: unread,
      denied: (_namespace: string, error: KubeError | null) => (error === null ? undefined : unread(error)),
    }
    const options = { ...reflector, ...this.#scope.narrow(PODS), keep: podPart }
    const watch = new KindWatch(client, PODS, watcher, options)
    this.#podStop = stop
    this.#watchByKind.set('Pod', watch)
    const before = this.#podRun
    this.#podRun = before.then(() => watch.run(AbortSignal.any([this.#signal, stop.signal])))
  }

  #stopPods(stop: AbortController): void {
    const gone = this.#watchByKind.get('Pod')?.items ?? new Map<string, Resource>()
    stop.abort()
    this.#podStop = null
    this.#watchByKind.delete('Pod')
    for (const key of gone.keys()) this.#changed('Pod', key, undefined)
  }

  #changed(kind: Kind, key: string, resource: Resource | undefined): void {
    if (!this.isReady) return
    if (resource === undefined || this.#isSeen(resource)) this.#options.changed(kind, key, resource)
    else if (kind === 'Gateway') this.#options.unservedChanged(key)
    // The class decides which unserved Gateways are ours.
    if (kind === 'GatewayClass') for (const gateway of this.unservedGateways()) this.#options.unservedChanged(gateway)
    // Objects appear and disappear with the labels of their namespace.
    if (kind === 'Namespace' && this.#options.namespaceSelector !== undefined) this.#tellOf(key)
    if (kind === 'GwParameters' || kind === 'InferencePool' || kind === 'XBackend') this.#updatePods()
  }

  #tellOf(namespace: string): void {
    for (const [kind, { items }] of this.#watchByKind) {
      for (const [key, resource] of items) {
        if (resource.metadata.namespace !== namespace) continue
        const isSeen = this.#isSeen(resource)
        this.#options.changed(kind, key, isSeen ? resource : undefined)
        if (kind === 'Gateway' && !isSeen) this.#options.unservedChanged(key)
      }
    }
  }

  #denied(kind: Kind, namespace: string, error: KubeError | null): void {
    if (this.#scope.deny(kind, namespace, error) && this.isReady) this.#tellOf(namespace)
  }

  #synced(kind: Kind): void {
    if (!this.#unread.delete(kind) || this.#unread.size > 0) return
    // Parameters and pools are read by now. The first config must have the marks and addresses of Pods already.
    if (kind !== 'Pod' && this.#updatePods()) return void this.#unread.add('Pod')
    for (const [each, { items }] of this.#watchByKind) {
      for (const [key, resource] of items) {
        if (this.#isSeen(resource)) this.#options.changed(each, key, resource)
      }
    }
    this.#options.ready()
  }

  #isSeen(resource: Resource): boolean {
    return this.#scope.includes(resource)
  }
}
