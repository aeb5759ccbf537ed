import { performance } from 'node:perf_hooks'

/** Milliseconds to add to `performance.now`, which starts with its thread, to get the clock that all threads share. */
const behind = leastUnsure(5)

/**
 * Milliseconds since some point before the process started. The clock never goes back, and differs between threads by a
 * microsecond or two at most.
 */
export function monotonic(): number {
  // Takes half as long as `process.hrtime.bigint`; each request reads the clock several times.
  return performance.now() + behind
}

/** The clocks are read one after the other, so the reading that took the least time is the most accurate. */
function leastUnsure(looks: number): number {
  let best = { took: Infinity, behind: 0 }
  for (let look = 0; look < looks; look++) {
    const before = performance.now()
    const common = Number(process.hrtime.bigint()) / 1e6
    const took = performance.now() - before
    if (took < best.took) best = { took, behind: common - before - took / 2 }
  }
  return best.behind
}

/**
 * Converts times of the monotonic clock to wall-clock times. The wall clock is read once per second, not for each record.
 */
export class WallTime {
  readonly #clock: () => number
  #offset = 0
  #lookedAt = -Infinity

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Returns the wall-clock time of `moment`; `moment` and `now` are times of the monotonic clock. */
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

/** Returns a function that prints the current time as a Date header; the text is made once per second. */
export function createHttpDate(now: () => number = Date.now): () => string {
  let second = -1
  let text = ''
  return () => {
    const current = Math.floor(now() / 1000)
    if (current !== second) {
      second = current
      text = new Date(current * 1000).toUTCString()
    }
    return text
  }
}
