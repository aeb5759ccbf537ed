import type { MaterialKind, Resource } from '@portico/translate'
import { Backoff } from '../kube/backoff.ts'
import { contentsOf, versionOf } from './material-forms.ts'

export interface MaterialsOptions {
  /** Asks the server; undefined when it has none. */
  read: (kind: MaterialKind, key: string, signal: AbortSignal) => Promise<Resource | undefined>
  /** With what it holds, or its metadata alone as long as nobody wants more; undefined when it is gone. */
  changed: (kind: MaterialKind, key: string, resource: Resource | undefined) => void
  /** What it holds could not be read; it is tried again. */
  troubled: (kind: MaterialKind, key: string, error: unknown) => void
  createBackoff?: () => Backoff
}

interface Entry {
  id: string
  kind: MaterialKind
  key: string
  /** Its metadata, as the watch brought it last. */
  seen: Resource
  /** The one whose contents were asked for and came. */
  answered: Resource | null
  /** With what it holds. */
  held: Resource | null
  backoff: Backoff
  timer: NodeJS.Timeout | null
  isReading: boolean
}

const MOST_AT_ONCE = 8

/**
 * Secrets and ConfigMaps: a watch brings the metadata of all of them, and what one of them holds is asked for when it is wanted,
 * and again whenever it changes. The watch decides what there is; what was read is used until something newer was.
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

  /** How many are held with their contents. */
  count(kind: MaterialKind): number {
    return this.#entryById.values().reduce((sum, one) => sum + (one.kind === kind && one.held !== null ? 1 : 0), 0)
  }

  /** The metadata of one that is there or is another than before; undefined when it is gone. */
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
    // Labels count at once: who takes one away does not wait for another answer.
    else if (versionOf(seen) > versionOf(entry.held) && hasOtherLabels(seen, entry.held)) {
      const { labels: _, ...metadata } = entry.held.metadata
      const labels = seen.metadata.labels
      entry.held = { ...entry.held, metadata: { ...metadata, ...(labels && { labels }) } }
      this.#options.changed(kind, key, entry.held)
    }
    this.#ask(entry)
  }

  /** From now on the contents of these are wanted, `Kind/namespace/name`, and of no others. */
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

  /** Nobody wants it any more. */
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
    const { read, changed, troubled } = this.#options
    try {
      const found = await read(kind, key, this.#ending.signal)
      if (!this.#isOpen(entry)) return
      // One that was seen and is not there, or is older, is another server's view: the watch has the last word.
      if (found === undefined) throw new Error('the server does not have what its watch tells of')
      if (versionOf(found) < versionOf(seen)) throw new Error('the server gives an older one than its watch tells of')
      entry.backoff.reset()
      entry.answered = seen
      if (entry.held !== null && versionOf(entry.held) === versionOf(found)) return
      entry.held = contentsOf(found)
      changed(kind, key, entry.held)
    } catch (error) {
      if (!this.#isOpen(entry)) return
      troubled(kind, key, error)
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
