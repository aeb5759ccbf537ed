import { setTimeout as wait } from 'node:timers/promises'
import { keyOf, type Resource } from '@portico/translate'
import { Backoff, type BackoffOptions } from './backoff.ts'
import { KindReader, type ReadOptions } from './kind-reader.ts'
import type { KubeClient } from './kube-client.ts'
import { isStatus, KubeError } from './kube-error.ts'
import type { ApiKind } from './kinds.ts'

export interface ReflectorOptions extends ReadOptions {
  /** How often a kind is looked for that the server does not have. */
  missingMs?: number
  backoff?: BackoffOptions
  /** How long the server may take to open a watch at first; twice as long after each time that it took longer. */
  openMs?: number
  /** Objects as another reflector had them: only what differs from them is told. */
  known?: ReadonlyMap<string, Resource>
  /** Comes back, with the objects as they are, when the server has no such kind. */
  untilMissing?: boolean
}

export interface Watcher {
  /** An object is there or is another than before; undefined when it is gone. */
  changed(key: string, resource: Resource | undefined): void
  /** What the server has is known, for the first time or anew; `isMissing` when it has no such kind. */
  synced(isMissing: boolean): void
  /** Something went wrong and is tried again. */
  troubled(error: KubeError): void
}

/** The objects of one kind, as the API server has them: a list, then what changes, then a list again when need be. */
export class Reflector {
  readonly #reader: KindReader
  readonly #watcher: Watcher
  readonly #options: ReflectorOptions
  readonly #items: Map<string, Resource>
  #version = ''
  /** The server has forgotten the version that was watched from. */
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

  /** Works until the signal is raised, or, if so wished, until the kind is missing. */
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

  /** How long to wait, and whether to list anew. */
  #judge(error: unknown, backoff: Backoff): number {
    if (!(error instanceof KubeError)) throw error
    if (isStatus(error, 410)) {
      // What happened since is forgotten there, so everything is read anew; a server that keeps saying so is not run down.
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
    this.#watcher.troubled(error)
    return Math.max(error.retryAfterMs ?? 0, backoff.next())
  }

  async #list(signal: AbortSignal, backoff: Backoff): Promise<void> {
    const { found, version } = await this.#reader.list(signal)
    // A server that answers is well again; one whose versions end at once is not asked without a pause.
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
      // A watch that was open for a while was a good answer, also when nothing happened meanwhile.
      if (isOpen && !isShort()) backoff.reset()
      const isLate = !isOpen && performance.now() - startedAt >= this.#openMs
      if (isLate) this.#openMs = Math.min(2 * this.#openMs, MOST_OPEN_MS)
      throw error
    }
    // A server that ends every watch at once is not asked without a pause.
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
/** A healthy server opens a watch at once; one that has just started may leave a watch hanging that it never opens. */
const OPEN_MS = 3_000
const MOST_OPEN_MS = 30_000

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}

/** A list that is read anew has most objects as they were. */
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
