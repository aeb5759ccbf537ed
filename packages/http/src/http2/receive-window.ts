import { FIRST_WINDOW } from './frames.ts'

/** The bytes that the peer may send, on a stream or on the connection (RFC 9113 section 5.2). */
export class ReceiveWindow {
  #size: number
  readonly #largest: number
  #taken = 0
  /** A peer that does not know the size yet may use the default window. */
  #left: number
  #consumed = 0

  /** The window grows to `largest` once the data of several windows has been consumed. */
  constructor(size: number, largest = size) {
    this.#size = size
    this.#largest = largest
    this.#left = Math.max(size, FIRST_WINDOW)
  }

  /** Counts received bytes; returns false when the peer exceeds the window. */
  take(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }

  /** Counts consumed bytes; returns the window increment to send, which is 0 until it is worth a frame. */
  release(bytes: number): number {
    this.#consumed += bytes
    if (this.#consumed * 2 < this.#size) return 0
    const granted = this.#consumed + this.#growth()
    this.#left += granted
    this.#consumed = 0
    return granted
  }

  /**
   * Some clients pause for long when a window is used up; a larger window avoids that when data is consumed as it
   * arrives.
   */
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
