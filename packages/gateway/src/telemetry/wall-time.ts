/**
 * Converts moments of the monotonic clock to wall-clock time. The wall clock is read once per second, not for each
 * record.
 */
export class WallTime {
  readonly #clock: () => number
  #offset = 0
  #lookedAt = -Infinity

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Returns the wall-clock time of a moment; `now` is the present on the monotonic clock. */
  of(moment: number, now: number): number {
    if (now - this.#lookedAt >= LOOK_MS) {
      this.#lookedAt = now
      this.#offset = this.#clock() - now
    }
    return this.#offset + moment
  }
}

const LOOK_MS = 1000

/** Returns a function that prints the time as RFC 3339 UTC with six fractional digits; it caches the part up to the second. */
export function createTimestamp(now: () => number): () => string {
  let second = Number.NaN
  let prefix = ''
  return () => {
    const time = Math.floor(now())
    const currentSecond = Math.floor(time / 1000)
    if (currentSecond !== second) {
      second = currentSecond
      prefix = new Date(currentSecond * 1000).toISOString().slice(0, 19)
    }
    return prefix + (FRACTIONS[time - currentSecond * 1000] ?? '.000000Z')
  }
}

// The clock of the machine gives whole milliseconds, so there are only 1000 endings.
const FRACTIONS = Array.from({ length: 1000 }, (_, ms) => `.${String(ms).padStart(3, '0')}000Z`)
