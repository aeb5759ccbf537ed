import type { MaterialKind, Resource } from '@portico/translate'
import { Backoff } from '../kube/backoff.ts'
import { contentsOf, versionOf } from './material-forms.ts'

export interface MaterialsOptions {
  /** Reads from the server; undefined when the object does not exist. */
  read: (kind: MaterialKind, key: string, signal: AbortSignal) => Promise<Resource | undefined>
  /** Called with the content, or with metadata only while the content is not wanted; undefined when deleted. */
  changed: (kind: MaterialKind, key: string, resource: Resource | undefined) => void
  /** Called when a read fails; it is retried. */
  onError: (kind: MaterialKind, key: string, error: unknown) => void
  createBackoff?: () => Backoff
}

interface Entry {
  id: string
  kind: MaterialKind
  key: string
  /** The metadata of the last watch event. */
  seen: Resource
  /** The metadata for which the content was requested and received. */
  answered: Resource | null
  /** The object with its content. */
  held: Resource | null
  backoff: Backoff
  timer: NodeJS.Timeout | null
  isReading: boolean
}

const MOST_AT_ONCE = 8

/**
 * Secrets and ConfigMaps. A watch mirrors the metadata of all of them; the content of an object is read when it is wanted,
 * and again after each change. The watch decides which objects exist; read content is used until newer content arrives.
 */
export class Materials {
  readonly #options: Required<MaterialsOptions>
  readonly #entryById = new Map<string, Entry>()
  readonly #waiting = new Set<Entry>()
  readonly #ending = new AbortController()
  #wanted: ReadonlySet<string> = new Set()
  #reads = 0

  constructor(options: MaterialsOptions) {
    this.#options = { createBackoff: () => new Backoff({ firstMs: 100, mostMs: 10_000 }), ...options }
  }

  /** The number of objects whose content is in memory. */
  count(kind: MaterialKind): number {
    return this.#entryById.values().reduce((sum, one) => sum + (one.kind === kind && one.held !== null ? 1 : 0), 0)
  }

  /** Takes the metadata of a new or changed object; undefined when it is deleted. */
  take(kind: MaterialKind, key: string, seen: Resource | undefined): void {
    const id = `${kind}/${key}`
    const known = this.#entryById.get(id)
    if (seen === undefined) {
      if (known === undefined) return
      this.#rest(known)
      this.#entryById.delete(id)
      this.#options.changed(kind, key, undefined)
      return
    }
    const entry = known ?? this.#add(id, kind, key, seen)
    entry.seen = seen
    if (entry.held === null) this.#options.changed(kind, key, seen)
    else if (versionOf(seen) === versionOf(entry.held)) entry.answered = seen
    // Labels apply at once: removing one must not wait for another read.
    else if (versionOf(seen) > versionOf(entry.held) && hasOtherLabels(seen, entry.held)) {
      const { labels: _, ...metadata } = entry.held.metadata
      const labels = seen.metadata.labels
      entry.held = { ...entry.held, metadata: { ...metadata, ...(labels && { labels }) } }
      this.#options.changed(kind, key, entry.held)
    }
    this.#ask(entry)
  }

  /** Sets the objects whose content is wanted, as `Kind/namespace/name`. */
  want(ids: Iterable<string>): void {
    const before = this.#wanted
    this.#wanted = new Set(ids)
    for (const id of before) if (!this.#wanted.has(id)) this.#leave(this.#entryById.get(id))
    for (const id of this.#wanted) {
      const entry = before.has(id) ? undefined : this.#entryById.get(id)
      if (entry !== undefined) this.#ask(entry)
    }
  }

  stop(): void {
    this.#ending.abort()
    for (const entry of this.#entryById.values()) this.#rest(entry)
  }

  #add(id: string, kind: MaterialKind, key: string, seen: Resource): Entry {
    const backoff = this.#options.createBackoff()
    const entry = { id, kind, key, seen, answered: null, held: null, backoff, timer: null, isReading: false }
    this.#entryById.set(id, entry)
    return entry
  }

  /** Drops the content of an object that is no longer wanted. */
  #leave(entry: Entry | undefined): void {
    if (entry === undefined) return
    this.#rest(entry)
    entry.backoff.reset()
    entry.answered = null
    if (entry.held === null) return
    entry.held = null
    this.#options.changed(entry.kind, entry.key, entry.seen)
  }

  #rest(entry: Entry): void {
    this.#waiting.delete(entry)
    if (entry.timer !== null) clearTimeout(entry.timer)
    entry.timer = null
  }

  #isOpen(entry: Entry): boolean {
    const isOurs = this.#entryById.get(entry.id) === entry && !this.#ending.signal.aborted
    return isOurs && this.#wanted.has(entry.id) && entry.answered !== entry.seen
  }

  #ask(entry: Entry): void {
    if (!this.#isOpen(entry) || entry.isReading || entry.timer !== null) return
    this.#waiting.add(entry)
    this.#next()
  }

  #next(): void {
    for (const entry of this.#waiting) {
      if (this.#reads >= MOST_AT_ONCE) return
      this.#waiting.delete(entry)
      this.#reads++
      entry.isReading = true
      void this.#read(entry).finally(() => {
        this.#reads--
        entry.isReading = false
        this.#ask(entry)
        this.#next()
      })
    }
  }

  async #read(entry: Entry): Promise<void> {
    const { kind, key, seen } = entry
    const { read, changed, onError } = this.#options
    try {
      const found = await read(kind, key, this.#ending.signal)
      if (!this.#isOpen(entry)) return
      // A response that lacks the object or is older comes from a stale server; the watch decides.
      if (found === undefined) throw new Error('the API server lacks an object that its watch reported')
      if (versionOf(found) < versionOf(seen))
        throw new Error('the API server returned an older version than its watch reported')
      entry.backoff.reset()
      entry.answered = seen
      if (entry.held !== null && versionOf(entry.held) === versionOf(found)) return
      entry.held = contentsOf(found)
      changed(kind, key, entry.held)
    } catch (error) {
      if (!this.#isOpen(entry)) return
      onError(kind, key, error)
      entry.timer = setTimeout(() => {
        entry.timer = null
        this.#ask(entry)
      }, entry.backoff.next())
    }
  }
}

function hasOtherLabels(one: Resource, other: Resource): boolean {
  const [mine = {}, theirs = {}] = [one.metadata.labels, other.metadata.labels]
  const names = Object.keys(mine)
  return names.length !== Object.keys(theirs).length || names.some((name) => mine[name] !== theirs[name])
}
