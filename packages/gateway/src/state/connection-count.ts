import type { SharedCells, SharedCounters } from '@portico/http/client'

/** The index of a worker among all workers. The replacement of a dead worker takes over its index and its count. */
export interface WorkerIndex {
  /** Null in the main thread, which only reserves cells. */
  own: number | null
  /** The number of indexes. */
  all: number
}

/**
 * One more than the number of workers: a worker that is being replaced keeps its index until its connections have
 * ended.
 */
export function workerIndexCount(workers: number): number {
  return workers + 1
}

/**
 * The number of open connections of one port over all workers. Each worker changes a word of its own. When a worker
 * dies, its successor clears that word; no other thread could tell which connections the dead worker had.
 */
export class ConnectionCount {
  readonly #cells: SharedCells[]
  readonly #own: number
  readonly #now: () => number

  /**
   * Returns null when the table has no room. Create one instance per key and worker, or instances clear each other's
   * count.
   */
  static create(key: string, seat: WorkerIndex, shared: { counters: SharedCounters; monotonic: () => number }) {
    const cells: SharedCells[] = []
    for (let i = 0; i < seat.all; i++) {
      const found = shared.counters.cells(`connections ${key} ${i}`)
      if (found === null) return null
      cells.push(found)
    }
    const count = new ConnectionCount(cells, seat.own ?? 0, shared.monotonic)
    if (seat.own !== null) count.#clear()
    return count
  }

  constructor(cells: SharedCells[], own: number, now: () => number) {
    this.#cells = cells
    this.#own = own
    this.#now = now
  }

  /**
   * Adds one connection unless the total would exceed `most`. Two connections that compete for the last slot may both
   * be refused.
   */
  enter(most: number): boolean {
    this.add(1)
    if (this.total <= most) return true
    this.add(-1)
    return false
  }

  add(change: number): void {
    Atomics.add(this.#word(this.#own), 0, BigInt(change))
  }

  get total(): number {
    let total = 0n
    for (let i = 0; i < this.#cells.length; i++) total += Atomics.load(this.#word(i), 0)
    return Number(total)
  }

  #clear(): void {
    Atomics.store(this.#word(this.#own), 0, 0n)
  }

  #word(seat: number): BigInt64Array<SharedArrayBuffer> {
    const cells = this.#cells[seat]
    if (cells === undefined) throw new RangeError(`no seat ${seat}`)
    return cells.use(this.#now())
  }
}
