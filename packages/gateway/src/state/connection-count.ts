import type { SharedCells, SharedCounters } from '../upstream/shared-counters.ts'

/** The place of a worker among all; whoever replaces a dead one takes its seat, and with it what it counted. */
export interface Seat {
  /** Null in the thread that only asks for room. */
  own: number | null
  /** How many there are. */
  all: number
}

/** One more than workers: a worker that is replaced keeps its seat until its connections have ended. */
export function seatCount(workers: number): number {
  return workers + 1
}

/**
 * How many connections of one port are open, over all workers. Each worker changes a word of its own, so that one which
 * dies leaves a count that its successor clears; nobody else could tell which connections went with it.
 */
export class ConnectionCount {
  readonly #cells: SharedCells[]
  readonly #own: number
  readonly #now: () => number

  /** Null when there is no room. One for each key and worker, or they would clear each other's count. */
  static create(key: string, seat: Seat, shared: { counters: SharedCounters; monotonic: () => number }) {
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

  /** Counts one more unless there would be more than `most`. Two who come at once for the last place may both be refused. */
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
