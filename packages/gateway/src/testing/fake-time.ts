import { Deadline, Deadlines } from '@portico/http'

/** Time for deadlines that moves when told, however slow the machine is. */
export class FakeTime {
  #now = 0
  readonly deadlines = new Deadlines(() => this.#now)

  constructor() {
    // With none at all they would begin from the time that it is then, and what is due now would wait for the next tick.
    this.deadlines.set(new Deadline(() => {}), Infinity)
  }

  get now(): number {
    return this.#now
  }

  /** Resolves when everything that is due by then has happened. */
  advance(ms: number): Promise<void> {
    // Deadlines are looked at by ticks: what is due in the middle of one would wait for the next.
    this.#now = Math.ceil((this.#now + ms) / TICK) * TICK
    // The timer was set by the old time: it is dropped, and a deadline of no length sets it anew.
    this.deadlines.close()
    return new Promise((resolve) => this.deadlines.set(new Deadline(resolve), 0))
  }
}

const TICK = 16
