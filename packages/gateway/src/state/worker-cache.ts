/** Objects of one worker that outlive reloads. The key of an object describes its inputs. */
export class WorkerCache {
  readonly #refs = new Map<string, WeakRef<object>>()
  readonly #held = new Map<string, object>()
  #sweepAt = FIRST_SWEEP

  /** Returns the same object for the same key as long as the object is in use. */
  shared<T extends object>(key: string, make: () => T): T {
    // A key determines the type of its object.
    const known = this.#refs.get(key)?.deref() as T | undefined
    if (known !== undefined) return known
    if (this.#refs.size >= this.#sweepAt) this.#sweep()
    const made = make()
    this.#refs.set(key, new WeakRef(made))
    return made
  }

  /** Returns the object of a key that is in use. */
  find<T extends object>(key: string): T | null {
    return (this.#refs.get(key)?.deref() as T | undefined) ?? null
  }

  /**
   * Like `shared`, but keeps the most recently requested objects even when they are unused, because routes are built
   * lazily.
   */
  held<T extends object>(key: string, make: () => T): T {
    const object = this.shared(key, make)
    this.#held.delete(key)
    this.#held.set(key, object)
    const [oldest = key] = this.#held.keys()
    if (this.#held.size > MAX_HELD) this.#held.delete(oldest)
    return object
  }

  #sweep(): void {
    for (const [key, ref] of this.#refs) if (ref.deref() === undefined) this.#refs.delete(key)
    this.#sweepAt = Math.max(FIRST_SWEEP, this.#refs.size * 2)
  }
}

const MAX_HELD = 64
const FIRST_SWEEP = 1024
