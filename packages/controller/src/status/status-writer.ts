import type { Kind, Resource } from '@portico/translate'
import { Backoff } from '../kube/backoff.ts'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { statusPatch, type WantedStatus } from './merge.ts'
import { clearTimer, type Entry, entryOf, newerOf, pauseBefore, withoutTimes } from './writer-entry.ts'
import { writeStatus } from './write-status.ts'

interface StatusWriterOptions {
  client: KubeClient
  controllerName: string
  /** The API kind; null while the server lacks it. */
  apiOf: (kind: Kind) => ApiKind | null
  /** Returns the object as last seen. */
  find: (kind: Kind, key: string) => Resource | undefined
  /** Returns the wanted status: null for a resource that is not ours, undefined when it is too early to report. */
  wanted: (kind: Kind, key: string) => WantedStatus | null | undefined
  /** Called when a write fails; it is retried. */
  onError: (kind: Kind, key: string, error: unknown) => void
  /** Called after every write, with its result. */
  wrote?: (kind: Kind, result: 'success' | 'conflict' | 'error') => void
  now?: () => Date
  createBackoff?: () => Backoff
  /** The shortest time between two writes of one object. */
  gapMs?: number
}

const MOST_AT_ONCE = 8

/**
 * Keeps statuses as wanted. It writes only differences, based on the version last seen, one write per object at a time.
 * When another writer keeps changing a status back, writes of that object back off.
 */
export class StatusWriter {
  readonly #options: Required<Omit<StatusWriterOptions, 'wrote'>> & Pick<StatusWriterOptions, 'wrote'>
  readonly #entryById = new Map<string, Entry>()
  readonly #waiting = new Set<string>()
  readonly #running = new Set<Promise<void>>()
  #isStarted = false

  constructor(options: StatusWriterOptions) {
    const createBackoff = (): Backoff => new Backoff({ firstMs: 100, mostMs: 5_000 })
    this.#options = { now: () => new Date(), createBackoff, gapMs: 50, ...options }
  }

  /** Objects that wait for a check. */
  get backlog(): number {
    return this.#waiting.size
  }

  /** Objects whose last write is remembered. */
  get size(): number {
    return this.#entryById.size
  }

  /** Checks an object after it, or its wanted status, may have changed. */
  check(kind: Kind, key: string): void {
    if (!this.#isStarted) return
    this.#waiting.add(`${kind}/${key}`)
    this.#next()
  }

  /** Forgets a deleted object. */
  forget(kind: Kind, key: string): void {
    const id = `${kind}/${key}`
    clearTimer(this.#entryById.get(id))
    this.#entryById.delete(id)
    this.#waiting.delete(id)
  }

  start(): void {
    this.#isStarted = true
  }

  /** Resolves when no write is under way. */
  async stop(): Promise<void> {
    this.#isStarted = false
    this.#waiting.clear()
    for (const entry of this.#entryById.values()) clearTimer(entry)
    await Promise.all(this.#running)
    this.#entryById.clear()
  }

  #next(): void {
    for (const id of this.#waiting) {
      if (!this.#isStarted || this.#running.size >= MOST_AT_ONCE) return
      this.#waiting.delete(id)
      const entry = this.#entryById.get(id) ?? entryOf(id, this.#options.createBackoff())
      if (entry.isRunning) {
        entry.isStale = true
        continue
      }
      // The common case without a change costs no promise.
      const [patch, resource] = this.#patchOf(entry)
      if (patch === null || resource === undefined) continue
      // Entries are added only now, because nobody would remove that of a deleted object.
      this.#entryById.set(id, entry)
      const wait = pauseBefore(entry, patch, this.#options.gapMs)
      if (wait > 0) {
        this.#later(entry, wait)
        continue
      }
      const run = this.#run(entry, patch, resource).finally(() => {
        this.#running.delete(run)
        this.#next()
      })
      this.#running.add(run)
    }
  }

  #patchOf(entry: Entry): [object | null, Resource | undefined] {
    const { find, wanted } = this.#options
    const seen = find(entry.kind, entry.key)
    if (seen === undefined) return [null, undefined]
    const status = wanted(entry.kind, entry.key)
    if (status === undefined) return [null, undefined]
    const resource = newerOf(seen, entry.written)
    if (resource === seen) entry.written = null
    return [this.#compare(resource, status), resource]
  }

  #compare(resource: Resource, status: WantedStatus | null): object | null {
    const { controllerName, now } = this.#options
    return statusPatch(statusOf(resource), status, { controllerName, now: now() })
  }

  #later(entry: Entry, ms: number): void {
    entry.timer ??= setTimeout(() => {
      entry.timer = null
      this.check(entry.kind, entry.key)
    }, ms)
  }

  async #run(entry: Entry, patch: object, resource: Resource): Promise<void> {
    const { kind, key } = entry
    entry.isRunning = true
    try {
      await this.#write(entry, patch, resource)
    } catch (error) {
      this.#options.wrote?.(kind, 'error')
      this.#options.onError(kind, key, error)
      if (this.#isStarted && this.#entryById.get(`${kind}/${key}`) === entry) this.#later(entry, entry.backoff.next())
    } finally {
      entry.isRunning = false
    }
    if (!entry.isStale) return
    entry.isStale = false
    this.check(kind, key)
  }

  async #write(entry: Entry, patch: object, resource: Resource): Promise<void> {
    const { kind, key } = entry
    const { client, apiOf, wanted, wrote } = this.#options
    const api = apiOf(kind)
    if (api === null) return
    const compare = (newest: Resource): object | null | undefined => {
      const status = wanted(kind, key)
      return status === undefined ? undefined : this.#compare(newest, status)
    }
    const conflicted = (): void => wrote?.(kind, 'conflict')
    const result = await writeStatus(client, api, { resource, patch, compare, conflicted })
    if (result === null) return
    entry.written = result.resource
    if (result.patch === null) return
    entry.wroteAt = performance.now()
    entry.text = withoutTimes(result.patch)
    wrote?.(kind, 'success')
  }
}

function statusOf(resource: Resource): unknown {
  return Reflect.get(resource, 'status')
}
