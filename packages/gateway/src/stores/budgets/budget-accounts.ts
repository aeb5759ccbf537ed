import { partEnd } from '../../state/budget-period.ts'
import type { PartTable } from '../../state/part-table.ts'
import type { Lease, SpendTable } from '../../state/spend-table.ts'
import { type Budget, LEASE_MS } from './budget-store.ts'

/** The clocks of the accounts, and their randomness. */
export interface AccountParts {
  /** Milliseconds since 1970. */
  clock(): number
  /** Milliseconds of a clock that all workers share. */
  monotonic(): number
  random(): number
}

/** The memory of a budget. `parts` is null unless its period is rolling. */
export interface BudgetMemory {
  readonly table: SpendTable
  readonly parts: PartTable | null
}

/** The amount that a request has reserved of one budget. */
export interface HeldAmount {
  readonly slot: number
  readonly period: number
  readonly lease: Lease | null
  amount: number
}

/** The amounts of one budget, by slot of its table. */
export class BudgetAccounts {
  readonly #table: SpendTable
  readonly #rolling: RollingAmounts | null
  readonly #budget: Budget
  readonly #parts: AccountParts
  #sweptAt = -Infinity
  /** The key of the last request with its slot: most budgets have one key. */
  #last: { readonly key: string; readonly slot: number | null } | null = null

  constructor(budget: Budget, { table, parts: partTable }: BudgetMemory, parts: AccountParts) {
    this.#budget = budget
    this.#table = table
    this.#parts = parts
    const { partMs } = budget
    this.#rolling =
      partTable === null || partMs === null ? null : new RollingAmounts({ table, partTable, partMs }, parts)
  }

  /** The slot of a key; null when there is no room for another key. */
  slot(key: string): number | null {
    if (this.#last?.key !== key) this.#last = { key, slot: this.#table.slot(key) }
    return this.#last.slot
  }

  get now(): number {
    return this.#parts.clock()
  }

  /** The end of the current period, or the time at which a rolling period has more room. */
  end(slot: number): number {
    return this.#rolling?.end(slot) ?? this.#budget.periodAt(this.now).end
  }

  /** The amount that is spent or reserved in the current period. */
  used(slot: number): number {
    this.#rolling?.expire(slot)
    return this.#table.amount(slot, this.#period)
  }

  /** The rest of the budget in the current period. */
  left(slot: number): number {
    return Math.max(0, this.#budget.amount - this.used(slot))
  }

  /** Whether anything is left, once the reservations of threads that died are taken back. */
  hasRest(slot: number): boolean {
    return this.left(slot) > 0 || (this.#sweep() && this.left(slot) > 0)
  }

  /** Reserves an amount; null when less is left. */
  reserve(slot: number, amount: number): HeldAmount | null {
    const lease = this.#table.open(this.#parts.monotonic() + LEASE_MS)
    const period = this.#take(slot, amount)
    if (period === null) {
      if (lease !== null) this.#table.close(lease)
      return null
    }
    if (lease !== null) this.#table.keep(lease, slot, period, amount)
    return { slot, period, lease, amount }
  }

  /** Changes the amount of a reservation; false when there is no room for a larger one. */
  move(held: HeldAmount, amount: number): boolean {
    const { slot, period, lease } = held
    const more = amount - held.amount
    if (more > 0) this.#rolling?.expire(slot)
    if (more > 0 && !this.#table.grow(slot, period, more, this.#budget.amount)) return false
    // A lease that has ended was taken back already.
    if (more < 0 && !this.renew(held)) return true
    held.amount = amount
    // The lease is never for more than the slot has, so that a thread that dies gives nothing back twice.
    if (lease !== null) this.#table.keep(lease, slot, period, amount)
    if (more < 0) this.#table.change(slot, period, more)
    return true
  }

  /** Replaces a reservation by what the call has cost. */
  settle({ slot, period, lease, amount }: HeldAmount, spent: number): void {
    const isHeld = lease === null || this.#table.close(lease)
    this.#table.change(slot, period, isHeld ? spent - amount : spent)
    this.#rolling?.spend(slot, spent)
  }

  /** Counts an amount that was not reserved. */
  charge(slot: number, spent: number): void {
    if (spent <= 0) return
    this.#table.charge(slot, this.#period, spent)
    this.#rolling?.spend(slot, spent)
  }

  /** Moves the end of the lease; false when the lease has ended. */
  renew({ lease }: HeldAmount): boolean {
    return lease === null || this.#table.renew(lease, this.#parts.monotonic() + LEASE_MS)
  }

  get #period(): number {
    return this.#budget.periodAt(this.now).number
  }

  #take(slot: number, amount: number): number | null {
    const period = this.#period
    this.#rolling?.expire(slot)
    const taken = this.#table.take(slot, period, amount, this.#budget.amount)
    if (taken !== null || !this.#sweep()) return taken
    return this.#table.take(slot, period, amount, this.#budget.amount)
  }

  /** Takes back the reservations of threads that died, at most once per second. */
  #sweep(): boolean {
    const now = this.#parts.monotonic()
    if (now - this.#sweptAt < SWEEP_MS) return false
    this.#sweptAt = now
    return this.#table.sweep(now) > 0
  }
}

interface RollingMemory {
  readonly table: SpendTable
  readonly partTable: PartTable
  readonly partMs: number
}

/** The amounts of a rolling period. The table has the sum of what is spent and reserved, the parts have what was spent when. */
class RollingAmounts {
  readonly #memory: RollingMemory
  readonly #parts: AccountParts

  constructor(memory: RollingMemory, parts: AccountParts) {
    this.#memory = memory
    this.#parts = parts
  }

  /** Counts an amount that the table has already. */
  spend(slot: number, amount: number): void {
    if (amount > 0) this.#subtract(slot, this.#memory.partTable.add(slot, this.#part, amount))
  }

  /** Takes what is outside the period out of the sum. */
  expire(slot: number): void {
    this.#subtract(slot, this.#memory.partTable.expire(slot, this.#part))
  }

  /** The time at which the oldest part leaves the period; that of the current part when nothing was spent. */
  end(slot: number): number {
    const part = this.#part
    return partEnd(this.#memory.partTable.oldest(slot, part) ?? part, this.#memory.partMs)
  }

  get #part(): number {
    return Math.floor(this.#parts.clock() / this.#memory.partMs)
  }

  #subtract(slot: number, amount: number): void {
    if (amount > 0) this.#memory.table.change(slot, ROLLING_PERIOD, -amount)
  }
}

/** The sum of a rolling period is that of one period without an end. */
const ROLLING_PERIOD = 1
const SWEEP_MS = 1_000
