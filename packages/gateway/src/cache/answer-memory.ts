/** A stored answer of a provider. */
interface StoredAnswer {
  /** The headers of `KEPT_HEADERS`. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** When the answer was complete, in milliseconds on the monotonic clock. */
  readonly storedAt: number
}

interface Entry {
  readonly key: string
  readonly answer: StoredAnswer
  readonly bytes: number
  readonly expiresAt: number
  readonly tenant: Tenant
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
  readonly #entries = new Map<string, Entry>()
  readonly #tenants = new Map<string, Tenant>()
  /** Tenants by the logarithm of their bytes, so that a large one is found at once. */
  readonly #classes: (Set<Tenant> | undefined)[] = []
  #bytes = 0
  /** Bytes of answers that are still arriving. */
  #arriving = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The most bytes of one answer. */
  get maxAnswerBytes(): number {
    return Math.floor(this.#maxBytes / ANSWERS_AT_LEAST)
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

  /** Stores an answer in place of an older one; returns false when the answer is too large. */
  put(answer: StoredAnswer, { key, scope, expiresAt }: { key: string; scope: string; expiresAt: number }): boolean {
    const bytes = sizeOf(answer, key, scope)
    if (bytes > this.maxAnswerBytes) return false
    const older = this.#entries.get(key)
    if (older !== undefined) this.#remove(older)
    let tenant = this.#tenants.get(scope)
    if (tenant === undefined) this.#tenants.set(scope, (tenant = { scope, entries: new Map(), bytes: 0 }))
    const entry: Entry = { key, answer, bytes, expiresAt, tenant }
    this.#entries.set(key, entry)
    tenant.entries.set(key, entry)
    this.#resize(tenant, bytes)
    this.#makeRoom()
    return true
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

  /** Removes all answers; returns their number. */
  clear(): number {
    const { size } = this.#entries
    for (const entry of this.#entries.values()) this.#remove(entry)
    return size
  }

  #makeRoom(): void {
    while (this.#bytes + this.#arriving > this.#maxBytes) {
      const [tenant] = this.#classes.findLast((each) => each !== undefined && each.size > 0) ?? []
      const [oldest] = tenant?.entries.values() ?? []
      if (oldest === undefined) return
      this.#remove(oldest)
    }
  }

  #remove(entry: Entry): void {
    const { key, tenant, bytes } = entry
    this.#entries.delete(key)
    tenant.entries.delete(key)
    this.#resize(tenant, -bytes)
    if (tenant.entries.size === 0) this.#tenants.delete(tenant.scope)
  }

  #resize(tenant: Tenant, change: number): void {
    this.#classes[classOf(tenant.bytes)]?.delete(tenant)
    tenant.bytes += change
    this.#bytes += change
    if (tenant.bytes > 0) (this.#classes[classOf(tenant.bytes)] ??= new Set()).add(tenant)
  }
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
