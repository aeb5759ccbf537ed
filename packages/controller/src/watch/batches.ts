/**
 * Runs a task after changes: at once for a single change, once for many that arrive together. After a long run it pauses
 * for as long, so that half of the time is left for other work.
 */
export class Batches {
  readonly #work: () => void
  readonly #now: () => number
  #restUntil = 0
  /** Cancels the planned run. */
  #cancel: (() => void) | null = null

  constructor(work: () => void, now: () => number = () => performance.now()) {
    this.#work = work
    this.#now = now
  }

  /** Plans a run after a change. */
  add(): void {
    if (this.#cancel !== null) return
    const rest = this.#restUntil - this.#now()
    if (rest > 0) {
      const timer = setTimeout(() => this.#run(), rest)
      this.#cancel = () => clearTimeout(timer)
    } else {
      const immediate = setImmediate(() => this.#run())
      this.#cancel = () => clearImmediate(immediate)
    }
  }

  /** Drops planned runs. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #run(): void {
    this.#cancel = null
    const startedAt = this.#now()
    this.#work()
    const endedAt = this.#now()
    const took = endedAt - startedAt
    this.#restUntil = took < SHORT_MS ? 0 : endedAt + Math.min(took, LONGEST_REST_MS)
  }
}

const SHORT_MS = 5
const LONGEST_REST_MS = 100
