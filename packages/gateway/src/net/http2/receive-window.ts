import { FIRST_WINDOW } from './frames.ts'

/** What the other side may send, on a stream or on the connection (RFC 9113 section 5.2). */
export class ReceiveWindow {
  readonly #size: number
  /** A peer that does not know the size yet may send as much as everybody. */
  #left: number
  #consumed = 0

  constructor(size: number) {
    this.#size = size
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
    const granted = this.#consumed
    this.#left += granted
    this.#consumed = 0
    return granted
  }
}
