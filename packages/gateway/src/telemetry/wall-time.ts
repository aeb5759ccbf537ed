/** Times of day of moments on a clock that only goes forward. The clock of the day is looked at once in a second, not for each record. */
export class WallTime {
  readonly #clock: () => number
  #offset = 0
  #lookedAt = -Infinity

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Of a moment; `now` is the present on the same clock. */
  of(moment: number, now: number): number {
    if (now - this.#lookedAt >= LOOK_MS) {
      this.#lookedAt = now
      this.#offset = this.#clock() - now
    }
    return this.#offset + moment
  }
}

const LOOK_MS = 1000
