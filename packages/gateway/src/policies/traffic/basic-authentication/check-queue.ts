/** Lets a few slow checks run at a time: a flood of guesses must leave threads for everything else. */
export class CheckQueue {
  readonly #waiting: (() => void)[] = []
  #running = 0

  /** Null when too many wait already. */
  run<T>(check: () => Promise<T>): Promise<T> | null {
    if (this.#running < MAX_RUNNING) return this.#start(check)
    if (this.#waiting.length >= MAX_WAITING) return null
    return new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() => this.#start(check))
  }

  async #start<T>(check: () => Promise<T>): Promise<T> {
    this.#running++
    try {
      return await check()
    } finally {
      this.#running--
      this.#waiting.shift()?.()
    }
  }
}

/** The runtime has four threads for such work, and looks up names on them too. */
const MAX_RUNNING = 2
const MAX_WAITING = 64
