import type { Kind, Resource } from '@portico/translate'
import { Backoff } from '../kube/backoff.ts'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { statusPatch, type WantedStatus } from './merge.ts'
import { clearTimer, type Entry, entryOf, newerOf, pauseBefore, textOf } from './writer-entry.ts'
import { writeStatus } from './write-status.ts'

export interface StatusWriterOptions {
  client: KubeClient
  controllerName: string
  /** Null as long as the server has no such kind. */
  apiOf: (kind: Kind) => ApiKind | null
  /** As last seen. */
  find: (kind: Kind, key: string) => Resource | undefined
  /** Null for what is not ours to speak of; undefined when it is too early to say anything. */
  wanted: (kind: Kind, key: string) => WantedStatus | null | undefined
  /** A write failed; it is tried again. */
  troubled: (kind: Kind, key: string, error: unknown) => void
  /** Told of every write, with how it ended. */
  wrote?: (kind: Kind, result: 'success' | 'conflict' | 'error') => void
  now?: () => Date
  createBackoff?: () => Backoff
  /** Between two writes of one object. */
  gapMs?: number
}

const MOST_AT_ONCE = 8

/**
 * Keeps statuses as they are wanted. Only what differs is written, upon the version that was seen; one write of an object
 * at a time. Whoever sets the same status to something else again and again is answered more and more slowly.
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

  /** How many are to be looked at. */
  get backlog(): number {
    return this.#waiting.size
  }

  /** Of how many it remembers what it wrote. */
  get size(): number {
    return this.#entryById.size
  }

  /** The object, or what is wanted of it, may be another now. */
  check(kind: Kind, key: string): void {
    if (!this.#isStarted) return
    this.#waiting.add(`${kind}/${key}`)
    this.#next()
  }

  /** The object is gone. */
  forget(kind: Kind, key: string): void {
    const id = `${kind}/${key}`
    clearTimer(this.#entryById.get(id))
    this.#entryById.delete(id)
    this.#waiting.delete(id)
  }

  start(): void {
    this.#isStarted = true
  }

  /** Resolves when nothing is under way any more. */
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
      // Nothing to do, as it is most of the time, costs no promise.
      const [patch, resource] = this.#patchOf(entry)
      if (patch === null || resource === undefined) continue
      // Only now: of what is gone already nobody would say again that it is.
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
      this.#options.troubled(kind, key, error)
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
    entry.text = textOf(result.patch)
    wrote?.(kind, 'success')
  }
}

function statusOf(resource: Resource): unknown {
  return Reflect.get(resource, 'status')
}
