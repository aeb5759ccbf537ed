/** The most watchers at a time. */
export const TRACE_SLOTS = 64
/** The word with the number of armed watchers. */
export const ARMED_COUNT = 0

export function createTraceMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer((1 + TRACE_SLOTS) * Int32Array.BYTES_PER_ELEMENT)
}

/**
 * Slots of watchers in shared memory, by which workers claim a request for a watcher. The first word is the number of armed
 * watchers; only the main thread writes it, so a worker that dies leaves it right. Then each slot has one word: 0 is free, a
 * positive id is an armed watcher, and a negative number is the worker that claimed it. Ids are never reused, so a slot with
 * a new watcher cannot be mistaken for the old one.
 */
export class TraceSlots {
  readonly #words: Int32Array

  constructor(shared: SharedArrayBuffer) {
    this.#words = new Int32Array(shared)
  }

  isArmed(slot: number, id: number): boolean {
    return Atomics.load(this.#words, 1 + slot) === id
  }

  /** Claims the slot; true for exactly one request of one worker. */
  claim(slot: number, id: number, worker: number): boolean {
    return Atomics.compareExchange(this.#words, 1 + slot, id, -1 - worker) === id
  }

  // Called by the main thread.

  countArmed(count: number): void {
    Atomics.store(this.#words, ARMED_COUNT, count)
  }

  arm(slot: number, id: number): void {
    Atomics.store(this.#words, 1 + slot, id)
  }

  free(slot: number): void {
    Atomics.store(this.#words, 1 + slot, 0)
  }

  isTakenBy(slot: number, worker: number): boolean {
    return Atomics.load(this.#words, 1 + slot) === -1 - worker
  }
}
