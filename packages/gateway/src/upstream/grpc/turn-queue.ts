/**
 * Runs tasks one after the other, and lets promises that a task has settled be used before the next task: messages of one
 * read are then heard as messages of several reads are. The first of them runs at once.
 */
export class TurnQueue {
  readonly #faulted: (error: unknown) => void
  #tasks: (() => void)[] = []
  #isTaken = false

  /** Tasks that run later have nobody to throw to but `faulted`. */
  constructor(faulted: (error: unknown) => void) {
    this.#faulted = faulted
  }

  add(task: () => void): void {
    if (this.#isTaken) return void this.#tasks.push(task)
    this.#isTaken = true
    try {
      task()
    } finally {
      queueMicrotask(this.#next)
    }
  }

  /** Drops the tasks that have not run. */
  close(): void {
    this.#tasks = []
  }

  readonly #next = (): void => {
    const task = this.#tasks.shift()
    if (task === undefined) {
      this.#isTaken = false
      return
    }
    try {
      task()
    } catch (error) {
      this.#faulted(error)
    }
    queueMicrotask(this.#next)
  }
}
