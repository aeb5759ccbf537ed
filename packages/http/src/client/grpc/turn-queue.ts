/**
 * Runs tasks in order, and lets the promises that a task settled run their reactions before the next task. Messages of
 * one read are thus handled like messages of several reads. The first task runs at once.
 */
export class TurnQueue {
  readonly #faulted: (error: unknown) => void
  #tasks: (() => void)[] = []
  #isTaken = false

  /** Errors of tasks that run later go to `faulted`, because no caller is left. */
  constructor(faulted: (error: unknown) => void) {
    this.#faulted = faulted
  }

  add(task: () => void): void {
    if (this.#isTaken) return void this.#tasks.push(task)
    this.#isTaken = true
    try {
      task()
    } finally {
      void SETTLED.then(this.#next)
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
    void SETTLED.then(this.#next)
  }
}

/** A reaction to a settled promise is a microtask that, unlike one of `queueMicrotask`, has no resource for hooks. */
const SETTLED = Promise.resolve()
