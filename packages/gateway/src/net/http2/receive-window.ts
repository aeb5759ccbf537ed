import { FIRST_WINDOW } from './frames.ts'

/** What the other side may send, on a stream or on the connection (RFC 9113 section 5.2). */
export class ReceiveWindow {
  #size: number
  readonly #largest: number
  #taken = 0
  /** A peer that does not know the size yet may send as much as everybody. */
  #left: number
  #consumed = 0

  /** Grows to `largest` once the data of several windows has been taken. */
  constructor(size: number, largest = size) {
    this.#size = size
    this.#largest = largest
    this.#left = Math.max(size, FIRST_WINDOW)
  }

  /** False when it sends more than it may. */
  take(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }

  /** So many are done with. What is to be allowed anew: nothing, until it is worth a frame. */
  release(bytes: number): number {
    this.#consumed += bytes
    if (this.#consumed * 2 < this.#size) return 0
    const granted = this.#consumed + this.#growth()
    this.#left += granted
    this.#consumed = 0
    return granted
  }

  /** Some clients stop for long whenever a window is used up: where the data is taken as it comes, they need not. */
  #growth(): number {
    if (this.#size >= this.#largest) return 0
    this.#taken += this.#consumed
    if (this.#taken < this.#size * WINDOWS_TO_GROW) return 0
    const growth = this.#largest - this.#size
    this.#size = this.#largest
    return growth
  }
}

const WINDOWS_TO_GROW = 2
