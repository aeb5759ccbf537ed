/**
 * A map that never changes: a changed one is another that shares all but the touched parts with it, so that many
 * generations take little more memory than one.
 */
export class SharingMap<Value> {
  readonly #buckets: readonly ReadonlyMap<string, Value>[]

  private constructor(buckets: readonly ReadonlyMap<string, Value>[]) {
    this.#buckets = buckets
  }

  static empty<Value>(): SharingMap<Value> {
    return new SharingMap<Value>(Array.from({ length: BUCKETS }, () => NOTHING as ReadonlyMap<string, Value>))
  }

  get(key: string): Value | undefined {
    return this.#buckets[bucketOf(key)]!.get(key)
  }

  has(key: string): boolean {
    return this.#buckets[bucketOf(key)]!.has(key)
  }

  /** With these entries; what is undefined is taken out. */
  with(entries: Iterable<readonly [string, Value | undefined]>): SharingMap<Value> {
    const copied = new Map<number, Map<string, Value>>()
    for (const [key, value] of entries) {
      const index = bucketOf(key)
      let bucket = copied.get(index)
      if (bucket === undefined) copied.set(index, (bucket = new Map(this.#buckets[index])))
      if (value === undefined) bucket.delete(key)
      else bucket.set(key, value)
    }
    if (copied.size === 0) return this
    return new SharingMap(this.#buckets.map((bucket, index) => copied.get(index) ?? bucket))
  }
}

const BUCKETS = 256
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()

function bucketOf(key: string): number {
  let hash = 0
  for (let i = 0; i < key.length; i++) hash = (hash * 31 + key.charCodeAt(i)) | 0
  return (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (BUCKETS - 1)
}
