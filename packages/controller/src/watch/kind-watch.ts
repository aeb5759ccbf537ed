import { setTimeout as wait } from 'node:timers/promises'
import { isMaterialKind, type Resource } from '@portico/translate'
import { Backoff } from '../kube/backoff.ts'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { KubeError } from '../kube/kube-error.ts'
import { Reflector, type ReflectorOptions } from '../kube/reflector.ts'
import { partOf } from './material-forms.ts'
import { NamespacedReflector, type NamespacedWatcher } from './namespaced-reflector.ts'
import { servedKind } from './served-version.ts'
import type { WatchedKind } from './watched-kinds.ts'

const MISSING_MS = 5_000
/** The interval of checks after the served version disappeared. */
const SOON_MS = 250
/** A small page, because annotations may contain 256 kB of applied content per object. */
const MATERIAL_PAGE = 200

export interface KindWatchOptions extends Omit<ReflectorOptions, 'namespace'> {
  /** Namespaces to watch; all when omitted. */
  namespaces?: readonly string[]
  /** How long objects are kept after the server dropped all versions, because one may be about to return. */
  graceMs?: number
}

/** Mirrors the objects of a kind in whichever version the server has, also when the kind appears later. */
export class KindWatch {
  readonly #client: KubeClient
  readonly #watched: WatchedKind
  readonly #watcher: NamespacedWatcher
  readonly #options: KindWatchOptions
  #items: ReadonlyMap<string, Resource> = NONE
  #api: ApiKind | null = null
  /** When the served version disappeared; null while there is one. */
  #missingSince: number | null = null
  readonly #denied = new Set<string>()

  constructor(client: KubeClient, watched: WatchedKind, watcher: NamespacedWatcher, options: KindWatchOptions = {}) {
    this.#client = client
    this.#watched = watched
    this.#watcher = watcher
    const { fieldSelector, kind } = watched
    const part = isMaterialKind(kind) ? { metadataOnly: true, keep: partOf, pageSize: MATERIAL_PAGE } : {}
    this.#options = { ...part, ...(fieldSelector !== undefined && { fieldSelector }), ...options }
  }

  get items(): ReadonlyMap<string, Resource> {
    return this.#items
  }

  /** The served API kind; null while there is none. */
  get api(): ApiKind | null {
    return this.#api
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(this.#options.backoff)
    while (!signal.aborted) {
      try {
        const api = await servedKind(this.#client, this.#watched, signal)
        backoff.reset()
        if (api !== null) await this.#watch(api, signal)
        if (!signal.aborted) await pause(this.#miss(), signal)
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof KubeError)) throw error
        this.#watcher.onError(error)
        await pause(Math.max(error.retryAfterMs ?? 0, backoff.next()), signal)
      }
    }
  }

  /** Watches until the server drops this version. */
  async #watch(api: ApiKind, signal: AbortSignal): Promise<void> {
    const watcher: NamespacedWatcher = {
      changed: (key, resource) => this.#watcher.changed(key, resource),
      onError: (error) => this.#watcher.onError(error),
      denied: (namespace, error) => {
        if (error === null) this.#denied.delete(namespace)
        else this.#denied.add(namespace)
        this.#watcher.denied?.(namespace, error)
      },
      synced: (isMissing) => {
        this.#api = api
        this.#missingSince = null
        this.#watcher.synced(isMissing)
      },
    }
    // Objects from the previous version stay until they are read in this one.
    const { namespaces, ...rest } = this.#options
    const options = { ...rest, known: this.#items, untilMissing: true }
    const reflector =
      namespaces === undefined
        ? new Reflector(this.#client, api, watcher, options)
        : new NamespacedReflector(this.#client, api, watcher, { ...options, namespaces })
    this.#items = reflector.items
    await reflector.run(signal)
  }

  /** Handles a missing kind; returns the wait until the next check in milliseconds. */
  #miss(): number {
    const { missingMs = MISSING_MS, graceMs = MISSING_MS } = this.#options
    const now = performance.now()
    this.#missingSince ??= now
    if (this.#api !== null && now - this.#missingSince < graceMs) return Math.min(SOON_MS, missingMs)
    this.#api = null
    const gone = this.#items
    this.#items = NONE
    for (const key of gone.keys()) this.#watcher.changed(key, undefined)
    // Nothing is denied of a kind that does not exist, and nothing would read it again when the rights return.
    for (const namespace of this.#denied) this.#watcher.denied?.(namespace, null)
    this.#denied.clear()
    this.#watcher.synced(true)
    return missingMs
  }
}

const NONE: ReadonlyMap<string, Resource> = new Map()

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}
