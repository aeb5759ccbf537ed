/** When a program that ended may be started again: at once after a good life, later and later after bad ones. */
export class Backoff {
  #deaths = 0
  #until = 0
  #reason = ''

  /** Times are milliseconds that never go back. */
  died(startedAt: number, now: number, reason: string): void {
    if (now - startedAt >= MAX_MS) this.#deaths = 0
    this.#until = this.#deaths === 0 ? now : now + Math.min(MAX_MS, FIRST_MS * 2 ** (this.#deaths - 1))
    this.#deaths++
    this.#reason = reason
  }

  /** Why it is not started now, for people; null when it may be. */
  refusal(now: number): string | null {
    const left = this.#until - now
    return left <= 0 ? null : `it is not started again for another ${Math.ceil(left)} ms: ${this.#reason}`
  }

  /** Whether it can be forgotten: the next death would be the first again. */
  isOver(now: number): boolean {
    return now - this.#until >= MAX_MS
  }
}

const FIRST_MS = 100
const MAX_MS = 30_000
