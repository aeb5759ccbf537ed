/**
 * Distinguishes a client that floods the connection with useless frames (pings, settings, priorities, empty data,
 * needless window updates) from a working client. A client may always send some such frames, and more of them the more
 * it requests and receives.
 */
export class FrameGuard {
  #windowStart = 0
  #idle = 0
  #useful = 0

  /** Counts frames that carried a request or part of a body, or an equivalent amount of response data. */
  useful(count = 1): void {
    this.#useful += count
  }

  /** Counts a useless frame; returns true when the limit is exceeded. */
  idle(now: number): boolean {
    if (now - this.#windowStart > WINDOW_MS) {
      this.#windowStart = now
      this.#idle = 0
      this.#useful = 0
    }
    this.#idle++
    return this.#idle > MAX_IDLE + PER_USEFUL * this.#useful
  }
}

const WINDOW_MS = 10_000
const MAX_IDLE = 2_000
/** A client may acknowledge each frame for the stream and for the connection, and ping to measure the round trip. */
const PER_USEFUL = 5
