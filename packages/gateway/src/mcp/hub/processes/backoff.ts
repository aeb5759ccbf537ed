import type { TargetFailure } from '../../transport.ts'

/** Delays restarts of a process: none after a long run, and exponentially longer delays after repeated short runs. */
export class Backoff {
  #deaths = 0
  #until = 0
  #last: TargetFailure | null = null

  /** Records the end of a process. Times are in milliseconds of a monotonic clock. */
  died(startedAt: number, now: number, failure: TargetFailure): void {
    if (now - startedAt >= MAX_MS) this.#deaths = 0
    this.#until = this.#deaths === 0 ? now : now + Math.min(MAX_MS, FIRST_MS * 2 ** (this.#deaths - 1))
    this.#deaths++
    this.#last = failure
  }

  /** Returns why the process is not started now; null when it may be started. */
  refusal(now: number): TargetFailure | null {
    const left = this.#until - now
    if (left <= 0 || this.#last === null) return null
    const message = `it restarts in ${Math.ceil(left)} ms at the earliest: ${this.#last.message}`
    return { ...this.#last, code: 'unavailable', message }
  }

  /** Whether the history has no effect any more: the next end of the process would count as the first. */
  isOver(now: number): boolean {
    return now - this.#until >= MAX_MS
  }
}

/** Returns the failure of the calls that a process did not answer because it ended, or never started. */
export function endOfProcess(message: string, wasStarted: boolean): TargetFailure {
  return wasStarted
    ? { code: 'broken', cause: 'process_ended', message }
    : { code: 'unavailable', cause: 'process_not_started', message }
}

const FIRST_MS = 100
const MAX_MS = 30_000
