/**
 * Lets a few slow checks of a worker run at a time, whichever policies ask for them: a flood of guesses must leave threads,
 * and time of this one, for everything else. Policies take turns, so a flood at one holds up no login at another.
 */
export class CheckSlots {
  #free: number
  /** Those in which somebody waits, the next one first. */
  readonly #queues = new Set<(() => void)[]>()

  constructor(most = MAX_RUNNING) {
    this.#free = most
  }

  get isFull(): boolean {
    return this.#free === 0
  }

  /**
   * For checks that have no thread of their own: lets everything else that waits run first, and while others wait for
   * their turn, a millisecond more. So a flood takes a part of the time, whatever it costs to check a password.
   */
  readonly giveWay = (): Promise<void> =>
    new Promise((resolve) => {
      if (this.#queues.size > 0) setTimeout(resolve, 1)
      else setImmediate(resolve)
    })

  /** Starts now, or when it is the turn of this queue. */
  take(start: () => void, queue: (() => void)[]): void {
    if (this.#free > 0) {
      this.#free--
      return start()
    }
    queue.push(start)
    this.#queues.add(queue)
  }

  release(): void {
    const [queue] = this.#queues
    const start = queue?.shift()
    if (queue === undefined || start === undefined) {
      this.#free++
      return
    }
    this.#queues.delete(queue)
    if (queue.length > 0) this.#queues.add(queue)
    start()
  }
}

/** The checks of one policy that wait for their turn. */
export class CheckQueue {
  readonly #waiting: (() => void)[] = []
  readonly #slots: CheckSlots

  constructor(slots: CheckSlots) {
    this.#slots = slots
  }

  /** Null when too many wait already. */
  run<T>(check: () => Promise<T>): Promise<T> | null {
    if (this.#slots.isFull && this.#waiting.length >= MAX_WAITING) return null
    const started = new Promise<void>((resolve) => this.#slots.take(resolve, this.#waiting))
    return started.then(check).finally(() => this.#slots.release())
  }
}

/** The runtime has four threads for such work, and looks up names on them too. */
const MAX_RUNNING = 2
const MAX_WAITING = 64
