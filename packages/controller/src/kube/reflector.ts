import { setTimeout as wait } from 'node:timers/promises'
import { keyOf, type Resource } from '@portico/translate'
import { Backoff, type BackoffOptions } from './backoff.ts'
import { KindReader, type ReadOptions } from './kind-reader.ts'
import type { KubeClient } from './kube-client.ts'
import { isStatus, KubeError } from './kube-error.ts'
import type { ApiKind } from './kinds.ts'

export interface ReflectorOptions extends ReadOptions {
  /** The interval at which a missing kind is checked, in milliseconds. */
  missingMs?: number
  backoff?: BackoffOptions
  /** The first time limit for opening a watch; it doubles after each timeout. */
  openMs?: number
  /** Objects known from another reflector; only differences from them are reported. */
  known?: ReadonlyMap<string, Resource>
  /** Whether `run` returns when the server lacks the kind; the objects stay known. */
  untilMissing?: boolean
}

export interface Watcher {
  /** Called when an object is added or changed, with undefined when it is deleted. */
  changed(key: string, resource: Resource | undefined): void
  /** Called after each complete list; `isMissing` when the server lacks the kind. */
  synced(isMissing: boolean): void
  /** Called after an error, which is retried. */
  onError(error: KubeError): void
}

/** Mirrors the objects of one kind: a list, then a watch, and another list when the watch cannot resume. */
export class Reflector {
  readonly #reader: KindReader
  readonly #watcher: Watcher
  readonly #options: ReflectorOptions
  readonly #items: Map<string, Resource>
  #version = ''
  /** Whether the server no longer has the version from which to watch. */
  #isExpired = false
  #openMs: number

  constructor(client: KubeClient, kind: ApiKind, watcher: Watcher, options: ReflectorOptions = {}) {
    this.#reader = new KindReader(client, kind, options)
    this.#watcher = watcher
    this.#options = options
    this.#items = new Map(options.known)
    this.#openMs = options.openMs ?? OPEN_MS
  }

  get items(): ReadonlyMap<string, Resource> {
    return this.#items
  }

  /** Runs until the signal aborts, or with `untilMissing` until the kind is missing. */
  async run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(this.#options.backoff)
    while (!signal.aborted) {
      try {
        if (this.#version === '') await this.#list(signal, backoff)
        await this.#watch(signal, backoff)
      } catch (error) {
        if (signal.aborted) return
        if (this.#options.untilMissing === true && isStatus(error, 404)) return
        await pause(this.#judge(error, backoff), signal)
      }
    }
  }

  /** Returns the wait in milliseconds, and decides whether to list again. */
  #judge(error: unknown, backoff: Backoff): number {
    if (!(error instanceof KubeError)) throw error
    if (isStatus(error, 410)) {
      // The server has dropped the history, so everything is listed again, with backoff in case the server keeps doing so.
      this.#version = ''
      this.#isExpired = true
      return backoff.next()
    }
    if (isStatus(error, 404)) {
      this.#version = ''
      this.#replace(new Map())
      this.#watcher.synced(true)
      return this.#options.missingMs ?? MISSING_MS
    }
    this.#watcher.onError(error)
    return Math.max(error.retryAfterMs ?? 0, backoff.next())
  }

  async #list(signal: AbortSignal, backoff: Backoff): Promise<void> {
    const { found, version } = await this.#reader.list(signal)
    // A successful list resets the backoff, except after a 410, because versions may expire again at once.
    if (!this.#isExpired) backoff.reset()
    this.#isExpired = false
    this.#replace(found)
    this.#version = version
    this.#watcher.synced(false)
  }

  async #watch(signal: AbortSignal, backoff: Backoff): Promise<void> {
    const startedAt = performance.now()
    let hasHeard = false
    let isOpen = false
    const opened = (): void => {
      isOpen = true
      this.#openMs = this.#options.openMs ?? OPEN_MS
    }
    const isShort = (): boolean => performance.now() - startedAt < SHORT_MS
    try {
      const start = { version: this.#version, limitMs: this.#openMs, opened }
      for await (const { resource, isGone, version } of this.#reader.watch(start, signal)) {
        if (resource !== null) this.#put(keyOf(resource), isGone ? undefined : resource)
        if (version !== undefined) this.#version = version
        hasHeard = true
        backoff.reset()
      }
    } catch (error) {
      // A watch that was open for a while counts as success, even without events.
      if (isOpen && !isShort()) backoff.reset()
      const isLate = !isOpen && performance.now() - startedAt >= this.#openMs
      if (isLate) this.#openMs = Math.min(2 * this.#openMs, MOST_OPEN_MS)
      throw error
    }
    // A server that ends every watch at once is asked with backoff.
    if (!hasHeard && isShort()) await pause(backoff.next(), signal)
  }

  #put(key: string, resource: Resource | undefined): void {
    if (resource === undefined) {
      if (this.#items.delete(key)) this.#watcher.changed(key, undefined)
      return
    }
    if (isSame(this.#items.get(key), resource)) return
    this.#items.set(key, resource)
    this.#watcher.changed(key, resource)
  }

  #replace(found: ReadonlyMap<string, Resource>): void {
    for (const key of [...this.#items.keys()]) if (!found.has(key)) this.#put(key, undefined)
    for (const [key, resource] of found) this.#put(key, resource)
  }
}

const MISSING_MS = 5_000
const SHORT_MS = 1_000
/** A healthy server opens a watch at once; a server that has just started may never open it. */
const OPEN_MS = 3_000
const MOST_OPEN_MS = 30_000

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}

/** Most objects are unchanged after another list. */
function isSame(one: Resource | undefined, other: Resource): boolean {
  const { uid, resourceVersion } = other.metadata
  return (
    one !== undefined &&
    one.apiVersion === other.apiVersion &&
    resourceVersion !== undefined &&
    one.metadata.resourceVersion === resourceVersion &&
    one.metadata.uid === uid
  )
}
