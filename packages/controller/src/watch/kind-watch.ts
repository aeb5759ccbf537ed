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
/** How often another version is looked for when the one that was read is gone. */
const SOON_MS = 250
/** What was applied may stand in annotations, up to 256 kB of each. */
const MATERIAL_PAGE = 200

export interface KindWatchOptions extends Omit<ReflectorOptions, 'namespace'> {
  /** Only in these; everywhere when left out. */
  namespaces?: readonly string[]
  /** How long objects are kept of a kind that the server has in no version; one may be about to come. */
  graceMs?: number
}

/** The objects of a kind, in whichever version the server has it, also when it comes only later. */
export class KindWatch {
  readonly #client: KubeClient
  readonly #watched: WatchedKind
  readonly #watcher: NamespacedWatcher
  readonly #options: KindWatchOptions
  #items: ReadonlyMap<string, Resource> = NONE
  #api: ApiKind | null = null
  /** Since when the kind that was read is in no version there; null while it is. */
  #missingSince: number | null = null

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

  /** As the server has it; null as long as it has not. */
  get api(): ApiKind | null {
    return this.#api
  }

  /** Works until the signal is raised. */
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
        this.#watcher.troubled(error)
        await pause(Math.max(error.retryAfterMs ?? 0, backoff.next()), signal)
      }
    }
  }

  /** Until the server has this version no more. */
  async #watch(api: ApiKind, signal: AbortSignal): Promise<void> {
    const watcher: NamespacedWatcher = {
      changed: (key, resource) => this.#watcher.changed(key, resource),
      troubled: (error) => this.#watcher.troubled(error),
      denied: (namespace, error) => this.#watcher.denied?.(namespace, error),
      synced: (isMissing) => {
        this.#api = api
        this.#missingSince = null
        this.#watcher.synced(isMissing)
      },
    }
    // What was read in another version holds until it is read in this one.
    const { namespaces, ...rest } = this.#options
    const options = { ...rest, known: this.#items, untilMissing: true }
    const reflector =
      namespaces === undefined
        ? new Reflector(this.#client, api, watcher, options)
        : new NamespacedReflector(this.#client, api, watcher, { ...options, namespaces })
    this.#items = reflector.items
    await reflector.run(signal)
  }

  /** The server has no version that could be read. How long to wait until the next look. */
  #miss(): number {
    const { missingMs = MISSING_MS, graceMs = MISSING_MS } = this.#options
    const now = performance.now()
    this.#missingSince ??= now
    if (this.#api !== null && now - this.#missingSince < graceMs) return Math.min(SOON_MS, missingMs)
    this.#api = null
    const gone = this.#items
    this.#items = NONE
    for (const key of gone.keys()) this.#watcher.changed(key, undefined)
    this.#watcher.synced(true)
    return missingMs
  }
}

const NONE: ReadonlyMap<string, Resource> = new Map()

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}
