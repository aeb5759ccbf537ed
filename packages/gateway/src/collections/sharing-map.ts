/**
 * An immutable map. `with` returns a changed map that shares the unchanged entries with this map, so many config
 * generations take little more memory than a single generation.
 */
export class SharingMap<Value> {
  readonly #shared: ReadonlyMap<string, Value>
  /** Entries that differ from `#shared`; an undefined value marks a removed key. */
  readonly #own: ReadonlyMap<string, Value | undefined>

  private constructor(shared: ReadonlyMap<string, Value>, own: ReadonlyMap<string, Value | undefined>) {
    this.#shared = shared
    this.#own = own
  }

  static of<Value>(entries: Iterable<readonly [string, Value]>): SharingMap<Value> {
    return new SharingMap<Value>(new Map(entries), NOTHING)
  }

  get(key: string): Value | undefined {
    if (this.#own.size > 0 && this.#own.has(key)) return this.#own.get(key)
    // The size check saves hashing the key, which may be a string that was concatenated just now.
    return this.#shared.size === 0 ? undefined : this.#shared.get(key)
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  *entries(): Generator<[string, Value]> {
    for (const [key, value] of this.#shared) if (!this.#own.has(key)) yield [key, value]
    for (const [key, value] of this.#own) if (value !== undefined) yield [key, value]
  }

  /** Returns a map with these entries; an undefined value removes its key. */
  with(entries: Iterable<readonly [string, Value | undefined]>): SharingMap<Value> {
    const own = new Map(this.#own)
    for (const [key, value] of entries) own.set(key, value)
    if (own.size <= MOST_OWN) return new SharingMap(this.#shared, own)
    const all = new Map(this.#shared)
    for (const [key, value] of own) {
      if (value === undefined) all.delete(key)
      else all.set(key, value)
    }
    return new SharingMap(all, NOTHING)
  }
}

/** Above this number of own entries, one copy of the whole map is cheaper than a copy of the own entries per change. */
const MOST_OWN = 256
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()
