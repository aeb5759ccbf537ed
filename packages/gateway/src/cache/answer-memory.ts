import type { AnswerLabels, AnswerSelection } from '../stores/answers/answer-store.ts'
import type { CacheCounts } from '../telemetry/metrics/cache-metrics.ts'

/** A stored answer of a provider. */
interface StoredAnswer {
  /** The headers of `KEPT_HEADERS`. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** When the answer was complete, in milliseconds on the monotonic clock. */
  readonly storedAt: number
}

/** How an answer is kept. */
interface Keeping {
  readonly key: string
  readonly scope: string
  readonly expiresAt: number
  readonly labels: AnswerLabels
  /** When a store that is shared must be asked again whether the answer still counts; infinite without such a store. */
  readonly checkAt: number
  /** Memory that goes with the answer; when absent, that of an older answer with the same key. */
  readonly attached?: AnswerAttachment | null
}

/** Memory outside of the cache that belongs to an answer. */
interface AnswerAttachment {
  readonly bytes: number
  /** Called when the answer is no longer stored. */
  removed(): void
}

interface Entry {
  readonly key: string
  readonly answer: StoredAnswer
  readonly labels: AnswerLabels
  checkAt: number
  readonly bytes: number
  readonly expiresAt: number
  readonly tenant: Tenant
  attached: AnswerAttachment | null
}

/** The entries of one scope, the least recently used first. */
interface Tenant {
  readonly scope: string
  readonly entries: Map<string, Entry>
  bytes: number
}

/** Figures of a cache. */
export interface MemoryFigures {
  readonly entries: number
  readonly scopes: number
  readonly bytes: number
}

/**
 * The answers of one cache in one worker, bounded in bytes. When there is no room, the least recently used answer of
 * the scope with the most bytes goes first (within a factor of two), so no tenant can evict all answers of another.
 */
export class AnswerMemory {
  #maxBytes: number
  readonly #counts: CacheCounts
  readonly #entries = new Map<string, Entry>()
  readonly #tenants = new Map<string, Tenant>()
  /** Tenants by the logarithm of their bytes, so that a large one is found at once. */
  readonly #classes: (Set<Tenant> | undefined)[] = []
  #bytes = 0
  /** Bytes of answers that are still arriving. */
  #arriving = 0
  #purges = 0

  constructor(maxBytes: number, counts: CacheCounts) {
    this.#maxBytes = maxBytes
    this.#counts = counts
  }

  /** The most bytes of one answer. */
  get maxAnswerBytes(): number {
    return Math.floor(this.#maxBytes / ANSWERS_AT_LEAST)
  }

  /** The number of purges: an answer that was asked for before a purge is not stored after it. */
  get purges(): number {
    return this.#purges
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  get figures(): MemoryFigures {
    return { entries: this.#entries.size, scopes: this.#tenants.size, bytes: this.#bytes }
  }

  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes
    this.#makeRoom()
  }

  /** Returns a stored answer that has not expired, and marks it as used. */
  get(key: string, now: number): StoredAnswer | null {
    const entry = this.#entries.get(key)
    if (entry === undefined) return null
    if (entry.expiresAt <= now) {
      this.#remove(entry)
      return null
    }
    const { entries } = entry.tenant
    entries.delete(key)
    entries.set(key, entry)
    return entry.answer
  }

  /** The age of a stored answer that has not expired; infinite without one. */
  ageOf(key: string, now: number): number {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.expiresAt <= now ? Infinity : Math.max(0, now - entry.answer.storedAt)
  }

  /** The address of an answer in a store that is shared; null when the answer is not stored. */
  placeOf(key: string): { key: string; scope: string; labels: AnswerLabels } | null {
    const entry = this.#entries.get(key)
    return entry === undefined ? null : { key, scope: entry.tenant.scope, labels: entry.labels }
  }

  /** Stores an answer in place of an older one; returns false when the answer is too large. */
  put(answer: StoredAnswer, { key, scope, expiresAt, labels, checkAt, ...keeping }: Keeping): boolean {
    const older = this.#entries.get(key)
    const attached = keeping.attached ?? older?.attached ?? null
    const bytes = sizeOf(answer, key, scope) + (attached?.bytes ?? 0)
    if (bytes > this.maxAnswerBytes) {
      this.#counts.count('memory', 'rejected')
      if (attached !== older?.attached) attached?.removed()
      return false
    }
    if (older !== undefined) {
      if (older.attached === attached) older.attached = null
      this.#remove(older)
    }
    let tenant = this.#tenants.get(scope)
    if (tenant === undefined) this.#tenants.set(scope, (tenant = { scope, entries: new Map(), bytes: 0 }))
    const entry: Entry = { key, answer, labels, checkAt, bytes, expiresAt, tenant, attached }
    this.#entries.set(key, entry)
    tenant.entries.set(key, entry)
    this.#resize(tenant, bytes)
    this.#counts.resized(1, bytes)
    this.#counts.count('memory', 'stored')
    this.#makeRoom()
    return true
  }

  /** Whether a shared store should be asked about an answer before it is served. */
  isDue(key: string, now: number): boolean {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.checkAt <= now
  }

  /** Puts the next question to a shared store off. */
  checkLater(key: string, checkAt: number): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) entry.checkAt = checkAt
  }

  /** Removes one answer. */
  remove(key: string): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#remove(entry)
  }

  /** Removes the answers of a selection; returns their number. */
  purge(selection: AnswerSelection): number {
    this.#purges += 1
    const purged = [...this.#entries.values()].filter(({ labels }) => isSelected(labels, selection))
    for (const entry of purged) this.#remove(entry)
    this.#counts.count('memory', 'purged', purged.length)
    return purged.length
  }

  /** Reserves room for a part of an answer that is arriving; false when the arriving answers have too much already. */
  reserve(bytes: number): boolean {
    if (this.#arriving + bytes > this.#maxBytes / 2) return false
    this.#arriving += bytes
    this.#makeRoom()
    return true
  }

  release(bytes: number): void {
    this.#arriving -= bytes
  }

  removeExpired(now: number): void {
    for (const entry of this.#entries.values()) if (entry.expiresAt <= now) this.#remove(entry)
  }

  #makeRoom(): void {
    while (this.#bytes + this.#arriving > this.#maxBytes) {
      const [tenant] = this.#classes.findLast((each) => each !== undefined && each.size > 0) ?? []
      const [oldest] = tenant?.entries.values() ?? []
      if (oldest === undefined) return
      this.#remove(oldest)
      this.#counts.count('memory', 'evicted')
    }
  }

  #remove(entry: Entry): void {
    const { key, tenant, bytes } = entry
    this.#entries.delete(key)
    tenant.entries.delete(key)
    this.#resize(tenant, -bytes)
    this.#counts.resized(-1, -bytes)
    if (tenant.entries.size === 0) this.#tenants.delete(tenant.scope)
    entry.attached?.removed()
  }

  #resize(tenant: Tenant, change: number): void {
    this.#classes[classOf(tenant.bytes)]?.delete(tenant)
    tenant.bytes += change
    this.#bytes += change
    if (tenant.bytes > 0) (this.#classes[classOf(tenant.bytes)] ??= new Set()).add(tenant)
  }
}

function isSelected(labels: AnswerLabels, selection: AnswerSelection): boolean {
  if (selection === 'all' || 'cache' in selection) return true
  return 'model' in selection ? labels.model === selection.model : labels.apiKey === selection.apiKey
}

function classOf(bytes: number): number {
  return Math.floor(Math.log2(Math.max(1, bytes)))
}

/** An estimate from above: texts may take two bytes for each character, and objects and maps have an overhead. */
function sizeOf({ headers, body }: StoredAnswer, key: string, scope: string): number {
  const texts = headers.reduce((sum, [name, value]) => sum + name.length + value.length, key.length + scope.length)
  return body.length + 2 * texts + OVERHEAD
}

const OVERHEAD = 1024
const ANSWERS_AT_LEAST = 8
