/**
 * A map that never changes: a changed one is another that shares all but what differs with it, so that many generations
 * take little more memory than one.
 */
export class SharingMap<Value> {
  readonly #shared: ReadonlyMap<string, Value>
  /** What is not as it is there; undefined stands for what was taken out. */
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
    // Whether there is any is known without the hash of a text that may have been put together just now.
    return this.#shared.size === 0 ? undefined : this.#shared.get(key)
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  *entries(): Generator<[string, Value]> {
    for (const [key, value] of this.#shared) if (!this.#own.has(key)) yield [key, value]
    for (const [key, value] of this.#own) if (value !== undefined) yield [key, value]
  }

  /** With these entries; what is undefined is taken out. */
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

/** Beyond this it is cheaper to copy the whole once than these with every change. */
const MOST_OWN = 256
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()
