import type { Mark } from './hub-messages.ts'

/** Values by key, each with a time of expiry; the oldest are dropped when there are too many. */
export class ExpiringMap {
  readonly #marks = new Map<string, Mark>()
  readonly #options: ExpiringMapOptions
  #sweepAt = FIRST_SWEEP

  constructor(options: ExpiringMapOptions) {
    this.#options = options
  }

  get(key: string): string | undefined {
    return this.#marks.get(key)?.value
  }

  set(mark: Mark): void {
    // Moves the key to the end, because the oldest are dropped first.
    this.#marks.delete(mark.key)
    this.#marks.set(mark.key, mark)
    if (this.#marks.size >= this.#sweepAt) this.#sweep()
    for (const oldest of this.#marks.keys()) {
      if (this.#marks.size <= this.#options.max) return
      this.#marks.delete(oldest)
      this.#options.dropped?.()
    }
  }

  all(): Mark[] {
    this.#sweep()
    return [...this.#marks.values()]
  }

  #sweep(): void {
    const now = this.#options.clock()
    for (const [key, { expiresAt }] of this.#marks) if (expiresAt <= now) this.#marks.delete(key)
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#marks.size)
  }
}

export interface ExpiringMapOptions {
  max: number
  /** Milliseconds since 1970. */
  clock: () => number
  /** Called when a value was dropped before its time of expiry. */
  dropped?: () => void
}

const FIRST_SWEEP = 256
