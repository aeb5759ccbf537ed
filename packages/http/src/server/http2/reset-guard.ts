/**
 * Distinguishes a client that opens streams only to reset them from a client that cancels now and then: each such
 * stream costs this side a request, and the client next to nothing.
 */
export class ResetGuard {
  #windowStart = 0
  #resets = 0
  #completed = 0

  completed(): void {
    this.#completed++
  }

  /** Counts a reset; returns true when the limit is exceeded. */
  reset(now: number): boolean {
    if (now - this.#windowStart > WINDOW_MS) {
      this.#windowStart = now
      this.#resets = 0
      this.#completed = 0
    }
    this.#resets++
    return this.#resets > MAX_RESETS && this.#resets > this.#completed
  }
}

const WINDOW_MS = 10_000
const MAX_RESETS = 200
