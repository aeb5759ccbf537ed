/**
 * Tells a client that keeps this side busy with frames that lead nowhere (pings, settings, priorities, empty data, window
 * updates without need) from one that works: it may send some all the time, and more the more it asks and is given.
 */
export class FrameGuard {
  #windowStart = 0
  #idle = 0
  #useful = 0

  /** Frames that carried a request or a part of a body, or as much of an answer. */
  useful(count = 1): void {
    this.#useful += count
  }

  /** A frame that did not; true when the connection has had enough. */
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
/** A client may acknowledge each frame for the stream and for the connection, and ping to measure the way. */
const PER_USEFUL = 5
