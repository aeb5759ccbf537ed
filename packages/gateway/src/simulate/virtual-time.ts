import { type Deadline, Deadlines } from '@portico/http'

/** Time that stands still until it is moved, and the deadlines that depend on it. */
export class VirtualTime {
  /** Milliseconds since 1970. */
  #now: number
  readonly deadlines: VirtualDeadlines

  constructor(now: number) {
    this.#now = now
    this.deadlines = new VirtualDeadlines(() => this.#now)
  }

  readonly now = (): number => this.#now

  /** Moves the clock to a time and fires the deadlines that are due by then. The clock never goes back. */
  moveTo(time: number): void {
    this.#now = Math.max(this.#now, time)
    this.deadlines.fireDue()
  }
}

/** Deadlines on a clock that is moved by hand: there is no timer, and a deadline expires exactly at its time. */
class VirtualDeadlines extends Deadlines {
  readonly #armed = new Set<Deadline>()

  override set(deadline: Deadline, ms: number): void {
    deadline.at = this.now() + ms
    deadline.slot = ARMED
    this.#armed.add(deadline)
  }

  override clear(deadline: Deadline): void {
    if (this.#armed.delete(deadline)) deadline.slot = DISARMED
  }

  override close(): void {
    for (const deadline of this.#armed) this.clear(deadline)
  }

  /** The time of the next deadline; Infinity without one. */
  get next(): number {
    let next = Infinity
    for (const { at } of this.#armed) if (at < next) next = at
    return next
  }

  fireDue(): void {
    const now = this.now()
    if (this.next > now) return
    for (const deadline of [...this.#armed].toSorted((a, b) => a.at - b.at)) {
      // A deadline that expires may clear or move another one.
      if (!this.#armed.has(deadline) || deadline.at > now) continue
      this.clear(deadline)
      deadline.expire()
    }
  }
}

const ARMED = 0
const DISARMED = -1
