import type { SettlingGate } from '../stores/budgets/budget-store.ts'

/**
 * Memory that a worker and the main thread share about the journal of the worker: what is stored of it, and whether the
 * worker changes budgets at the moment. While the main thread copies the amounts of budgets, workers wait, so that the
 * copy has the costs of all lines up to `settled`, and of no others.
 */
export class JournalControl implements SettlingGate {
  readonly shared: SharedArrayBuffer
  readonly #words: Int32Array<SharedArrayBuffer>
  readonly #numbers: Float64Array<SharedArrayBuffer>

  constructor(shared = new SharedArrayBuffer(BYTES)) {
    this.shared = shared
    this.#words = new Int32Array(shared, 0, WORDS)
    this.#numbers = new Float64Array(shared, WORDS * 4, 3)
  }

  // Called by the worker.

  /** Begins to reserve or to settle; waits for at most a moment while budgets are copied. */
  enter(): void {
    const words = this.#words
    Atomics.store(words, BUSY, 1)
    Atomics.add(words, TURNS, 1)
    while (Atomics.load(words, PAUSED) === 1) {
      this.leave()
      Atomics.wait(words, PAUSED, 1, PAUSE_MS)
      Atomics.store(words, BUSY, 1)
    }
  }

  leave(): void {
    Atomics.store(this.#words, BUSY, 0)
    if (Atomics.load(this.#words, PAUSED) === 1) Atomics.notify(this.#words, BUSY)
  }

  /** Numbers the next line that settles budgets in shared memory; called between `enter` and `leave`. */
  number(): number {
    const next = this.settled + 1
    this.#numbers[SETTLED] = next
    return next
  }

  // Called by the main thread.

  /** Changes whenever the worker begins to change amounts; null while it changes some. */
  get turn(): number | null {
    const turn = Atomics.load(this.#words, TURNS)
    return Atomics.load(this.#words, BUSY) === 1 ? null : turn
  }

  /** Makes the worker wait before it settles the next call; false when the call at hand takes too long. */
  pause(): boolean {
    const words = this.#words
    Atomics.store(words, PAUSED, 1)
    if (Atomics.load(words, BUSY) === 1) Atomics.wait(words, BUSY, 1, PAUSE_MS)
    return Atomics.load(words, BUSY) === 0
  }

  resume(): void {
    Atomics.store(this.#words, PAUSED, 0)
    Atomics.notify(this.#words, PAUSED)
  }

  /** The number of the last line that settles budgets in shared memory. */
  get settled(): number {
    return this.#numbers[SETTLED] ?? 0
  }

  /** The last such line whose costs are in the file of budgets. */
  get saved(): number {
    return this.#numbers[SAVED] ?? 0
  }

  set saved(line: number) {
    this.#numbers[SAVED] = line
  }

  /** The last batch of entries that the writer has stored or spooled. */
  get confirmed(): number {
    return this.#numbers[CONFIRMED] ?? 0
  }

  set confirmed(batch: number) {
    this.#numbers[CONFIRMED] = batch
  }
}

const BUSY = 0
const PAUSED = 1
const TURNS = 2
/** A fourth word aligns the numbers. */
const WORDS = 4
const SETTLED = 0
const SAVED = 1
const CONFIRMED = 2
const BYTES = WORDS * 4 + 3 * 8
const PAUSE_MS = 20
