import { performance } from 'node:perf_hooks'
import { reportFault } from './faults.ts'

/**
 * One coarse timer for all timeouts of a worker. A deadline is an object that its owner keeps and reuses. Moving a
 * deadline later costs one assignment, so a busy connection pays nothing for its idle timeout.
 */
export class Deadlines {
  /** The clock of the deadlines, in milliseconds. */
  readonly now: () => number
  readonly #slots: (Deadline | null)[] = new Array<Deadline | null>(SLOTS).fill(null)
  #cursor: number
  #armed = 0
  #timer: NodeJS.Timeout | null = null
  /** The tick that the timer is set for. */
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
      // A later time is noticed when the slot comes up; only an earlier time must move to another slot.
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
    // Deadlines beyond the wheel wait in its last slot and are inserted again from there.
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

  /** An idle gateway sleeps until the next slot that is not empty. */
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
    // A deadline set by an expiry must not start a timer before the next slot is known.
    this.#wakeAt = -Infinity
    const now = this.now()
    const current = Math.floor(now / TICK)
    // After a long stall, one round visits every slot; the times decide, not the slots.
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
    // Always takes the first deadline, because an expiry may clear or move any other. Nothing is inserted into the
    // cursor's slot.
    for (let deadline = this.#slots[slot]; deadline; deadline = this.#slots[slot]) {
      this.#unlink(deadline)
      if (deadline.at > now) this.#link(deadline, now)
      else this.#expire(deadline)
    }
  }
}

/** Embedded in objects that can time out. An exception in `expire` is reported, and the other deadlines continue. */
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

/** 16 ms is finer than any configurable timeout and coarse enough to cost nothing. */
const TICK = 16
const SLOTS = 512
