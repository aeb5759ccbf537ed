/** Delays restarts of a process: none after a long run, and exponentially longer delays after repeated short runs. */
export class Backoff {
  #deaths = 0
  #until = 0
  #reason = ''

  /** Records the end of a process. Times are in milliseconds of a monotonic clock. */
  died(startedAt: number, now: number, reason: string): void {
    if (now - startedAt >= MAX_MS) this.#deaths = 0
    this.#until = this.#deaths === 0 ? now : now + Math.min(MAX_MS, FIRST_MS * 2 ** (this.#deaths - 1))
    this.#deaths++
    this.#reason = reason
  }

  /** Returns why the process is not started now, for people; null when it may be started. */
  refusal(now: number): string | null {
    const left = this.#until - now
    return left <= 0 ? null : `it restarts in ${Math.ceil(left)} ms at the earliest: ${this.#reason}`
  }

  /** Whether the history has no effect any more: the next end of the process would count as the first. */
  isOver(now: number): boolean {
    return now - this.#until >= MAX_MS
  }
}

const FIRST_MS = 100
const MAX_MS = 30_000
