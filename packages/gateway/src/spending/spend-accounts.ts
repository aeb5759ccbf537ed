import { SpendTable } from '../state/spend-table.ts'
import { LEASE_MS } from '../stores/budgets/budget-store.ts'

/** The clocks and the randomness of a step. */
interface SpendEnv {
  random: () => number
  /** Milliseconds since 1970, for periods of the calendar. */
  clock: () => number
  /** The clock of leases, which all workers share. */
  monotonic: () => number
}

/** The table of several limits, as one worker uses it. */
export class SpendAccounts {
  readonly table: SpendTable
  readonly #env: SpendEnv
  #sweptAt = -Infinity

  constructor(buffer: SharedArrayBuffer, env: SpendEnv) {
    this.table = new SpendTable(buffer, env.random)
    this.#env = env
  }

  now(): number {
    return this.#env.clock()
  }

  leaseEnd(): number {
    return this.#env.monotonic() + LEASE_MS
  }

  /** Takes back the reservations of threads that died, at most once per second; returns whether there were any. */
  sweep(): boolean {
    const now = this.#env.monotonic()
    if (now - this.#sweptAt < SWEEP_MS) return false
    this.#sweptAt = now
    return this.table.sweep(now) > 0
  }
}

const SWEEP_MS = 1_000
