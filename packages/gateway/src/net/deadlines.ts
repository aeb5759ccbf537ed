import { performance } from 'node:perf_hooks'
import { reportFault } from '../telemetry/faults.ts'

/**
 * One coarse timer for everything in a worker that may take too long. A deadline is an object kept by its owner and
 * re-used; moving it later costs one assignment, so a busy connection pays nothing for its idle limit.
 */
export class Deadlines {
  /** The time that they go by, in milliseconds. */
  readonly now: () => number
  readonly #slots: (Deadline | null)[] = Array.from({ length: SLOTS }, () => null)
  #cursor: number
  #armed = 0
  #timer: NodeJS.Timeout | null = null
  /** The tick the timer is set for. */
  #wakeAt = Infinity

  constructor(now: () => number = () => performance.now()) {
    this.now = now
    this.#cursor = Math.floor(now() / TICK)
  }

  /** Fires `deadline.expire` after at least `ms`, at most two ticks late. */
  set(deadline: Deadline, ms: number): void {
    const now = this.now()
    deadline.at = now + ms
    if (deadline.slot !== -1) {
      // A later time is found out when the slot comes round; only an earlier one must move.
      if (deadline.at >= deadline.slotAt) return
      this.#unlink(deadline)
    }
    this.#link(deadline, now)
  }

  clear(deadline: Deadline): void {
    if (deadline.slot !== -1) this.#unlink(deadline)
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#wakeAt = Infinity
  }

  #link(deadline: Deadline, now: number): void {
    if (this.#armed === 0 && this.#wakeAt === Infinity) this.#cursor = Math.floor(now / TICK)
    // Far deadlines wait in the last slot of the round and are put back from there.
    const due = Math.min(Math.max(Math.ceil(deadline.at / TICK), this.#cursor + 1), this.#cursor + SLOTS - 1)
    const slot = due % SLOTS
    deadline.slot = slot
    deadline.slotAt = due * TICK
    deadline.previous = null
    deadline.next = this.#slots[slot] ?? null
    if (deadline.next !== null) deadline.next.previous = deadline
    this.#slots[slot] = deadline
    this.#armed++
    if (due < this.#wakeAt) this.#wake(due, now)
  }

  /** An idle gateway sleeps until the next slot that holds something. */
  #wake(due: number, now: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#wakeAt = due
    this.#timer = setTimeout(this.#tick, Math.max(1, Math.ceil(due * TICK - now))).unref()
  }

  #unlink(deadline: Deadline): void {
    if (deadline.previous === null) this.#slots[deadline.slot] = deadline.next
    else deadline.previous.next = deadline.next
    if (deadline.next !== null) deadline.next.previous = deadline.previous
    deadline.previous = null
    deadline.next = null
    deadline.slot = -1
    this.#armed--
  }

  readonly #tick = (): void => {
    this.#timer = null
    // Nothing that an expiry sets may start a timer before the next slot is known.
    this.#wakeAt = -Infinity
    const now = this.now()
    const current = Math.floor(now / TICK)
    // After a long stall one round visits every slot; the times decide, not the slots.
    for (let tick = Math.max(this.#cursor + 1, current - SLOTS + 1); tick <= current; tick++) {
      this.#cursor = tick
      this.#fire(tick % SLOTS, now)
    }
    this.#wakeAt = Infinity
    if (this.#armed === 0) return
    let next = this.#cursor + 1
    while (this.#slots[next % SLOTS] === null) next++
    this.#wake(next, now)
  }

  #expire(deadline: Deadline): void {
    try {
      deadline.expire()
    } catch (error) {
      reportFault(error, 'worker')
    }
  }

  #fire(slot: number, now: number): void {
    // Always the first one: an expiry may clear or move any other. Nothing is put back into the slot of the cursor.
    for (let deadline = this.#slots[slot]; deadline; deadline = this.#slots[slot]) {
      this.#unlink(deadline)
      if (deadline.at > now) this.#link(deadline, now)
      else this.#expire(deadline)
    }
  }
}

/** Embedded in whatever can time out. An exception of `expire` is reported, and the other deadlines go on. */
export class Deadline {
  at = 0
  slot = -1
  slotAt = 0
  next: Deadline | null = null
  previous: Deadline | null = null
  readonly expire: () => void

  constructor(expire: () => void) {
    this.expire = expire
  }

  get isSet(): boolean {
    return this.slot !== -1
  }
}

/** 16 ms is finer than anything a user configures and coarse enough to cost nothing. */
const TICK = 16
const SLOTS = 512
