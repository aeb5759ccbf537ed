/** A limit per second: `take` returns true at most `most` times in each second. */
export class PerSecond {
  readonly #most: number
  #second = 0
  #left = 0

  constructor(most: number) {
    this.#most = most
  }

  take(now: number): boolean {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#left = this.#most
    }
    return this.#left-- > 0
  }
}
