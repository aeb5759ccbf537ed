/**
 * Values by number, for numbers that come and go with each request, such as ids of streams. A `Map` would make garbage
 * that minor collections keep; see `LinkedSet`. Numbers are positive integers below 2^31.
 */
export class NumberTable<Value> {
  /** The number at each place; zero where the place is free. A value is at the first free place from its home. */
  #keys: number[] = NO_KEYS
  #values: (Value | undefined)[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: number): Value | undefined {
    return this.#size === 0 ? undefined : this.#values[this.#placeOf(key)]
  }

  set(key: number, value: Value): void {
    if (2 * this.#size >= this.#keys.length) this.#resize(Math.max(SMALLEST, 2 * this.#keys.length))
    const place = this.#placeOf(key)
    if (this.#keys[place] === 0) this.#size++
    this.#keys[place] = key
    this.#values[place] = value
  }

  delete(key: number): boolean {
    if (this.#size === 0) return false
    const [keys, values] = [this.#keys, this.#values]
    const mask = keys.length - 1
    let gap = this.#placeOf(key)
    if (keys[gap] === 0) return false
    // Values behind the gap whose way from home crosses it move up.
    for (let place = (gap + 1) & mask; ; place = (place + 1) & mask) {
      const next = keys[place] ?? 0
      if (next === 0) break
      if (((place - homeOf(next)) & mask) < ((place - gap) & mask)) continue
      keys[gap] = next
      values[gap] = values[place]
      gap = place
    }
    keys[gap] = 0
    values[gap] = undefined
    this.#size--
    // A burst does not leave a large table behind.
    if (this.#size === 0 && keys.length > LARGEST_EMPTY) this.clear()
    return true
  }

  clear(): void {
    this.#keys = NO_KEYS
    this.#values = []
    this.#size = 0
  }

  /** Returns the values by rising number, for loops that may change the table. */
  list(): Value[] {
    if (this.#size === 0) return []
    const keys = this.#keys.filter((key) => key !== 0).toSorted((one, other) => one - other)
    return keys.map((key) => this.get(key) as Value)
  }

  /** Returns the place of a number, or the free place where it belongs. */
  #placeOf(key: number): number {
    const keys = this.#keys
    const mask = keys.length - 1
    let place = homeOf(key) & mask
    while (keys[place] !== key && keys[place] !== 0) place = (place + 1) & mask
    return place
  }

  #resize(length: number): void {
    const [keys, values] = [this.#keys, this.#values]
    this.#keys = Array<number>(length).fill(0)
    this.#values = Array<Value | undefined>(length).fill(undefined)
    this.#size = 0
    for (const [place, key] of keys.entries()) if (key !== 0) this.set(key, values[place] as Value)
  }
}

/** Spreads numbers; ids of streams are all odd. */
function homeOf(key: number): number {
  return key >>> 1
}

const NO_KEYS: number[] = []
const SMALLEST = 8
const LARGEST_EMPTY = 128
