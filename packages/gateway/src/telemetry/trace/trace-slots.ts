/** The most watchers at a time. */
export const TRACE_SLOTS = 64
/** The word with the number of armed watchers. */
export const ARMED_COUNT = 0

export function createTraceMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer((1 + TRACE_SLOTS) * Int32Array.BYTES_PER_ELEMENT)
}

/**
 * Who takes which request, agreed on in shared memory. The first word says how many watchers are armed; only the main
 * thread writes it, so a worker that dies leaves it right. Then one word per slot: 0 is free, the id of a watcher is
 * armed, and below 0 stands the worker that took it. An id is never used again, so a slot that was given to another
 * watcher in the meantime cannot be mistaken for the old one.
 */
export class TraceSlots {
  readonly #words: Int32Array

  constructor(shared: SharedArrayBuffer) {
    this.#words = new Int32Array(shared)
  }

  isArmed(slot: number, id: number): boolean {
    return Atomics.load(this.#words, 1 + slot) === id
  }

  /** True for exactly one request of one worker. */
  claim(slot: number, id: number, worker: number): boolean {
    return Atomics.compareExchange(this.#words, 1 + slot, id, -1 - worker) === id
  }

  // The main thread's part.

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
