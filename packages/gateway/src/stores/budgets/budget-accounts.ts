import { partEnd } from '../../state/budget-period.ts'
import { tableId } from '../../state/keyed-tables.ts'
import { PartTable, partTableId } from '../../state/part-table.ts'
import { type Lease, SpendTable } from '../../state/spend-table.ts'
import { type Budget, LEASE_MS } from './budget-store.ts'
import type { MemorySettlement } from './settlement.ts'

/** The clocks and the random numbers of the accounts. */
export interface AccountParts {
  /** Returns the time in milliseconds since 1970. */
  clock(): number
  /** Returns the milliseconds of a monotonic clock that all workers share. */
  monotonic(): number
  random(): number
}

/** The shared memory of a budget. `parts` is null unless the budget has a rolling period. */
export interface BudgetMemory {
  readonly table: SpendTable
  readonly parts: PartTable | null
}

/** The amount of one budget that a request has reserved. */
export interface HeldAmount {
  readonly slot: number
  readonly period: number
  readonly lease: Lease | null
  amount: number
}

/** The period that has the cost of a call, and its part of a rolling period. */
interface SettledPeriod {
  readonly period: number
  readonly part: number | null
}

/** The amounts of one budget by key, in the slots of a shared table. */
export class BudgetAccounts {
  readonly #table: SpendTable
  readonly #rolling: RollingAmounts | null
  readonly #budget: Budget
  readonly #parts: AccountParts
  #sweptAt = -Infinity
  /** The key of the last request and its slot, cached because most budgets have one key. */
  #last: { readonly key: string; readonly slot: number | null } | null = null

  constructor(budget: Budget, { table, parts: partTable }: BudgetMemory, parts: AccountParts) {
    this.#budget = budget
    this.#table = table
    this.#parts = parts
    const { partMs } = budget
    this.#rolling =
      partTable === null || partMs === null ? null : new RollingAmounts({ table, partTable, partMs }, parts)
  }

  /** Returns the slot of a key; null when the table has no room for another key. */
  slot(key: string): number | null {
    if (this.#last?.key !== key) this.#last = { key, slot: this.#table.slot(key) }
    return this.#last.slot
  }

  get now(): number {
    return this.#parts.clock()
  }

  /** Returns the end of the current period; for a rolling period, the time at which more of the budget is free. */
  end(slot: number): number {
    return this.#rolling?.end(slot) ?? this.#budget.periodAt(this.now).end
  }

  /** The amount that is spent or reserved in the current period. */
  used(slot: number): number {
    this.#rolling?.expire(slot)
    return this.#table.amount(slot, this.#period)
  }

  /** Returns the amount of the budget that is left in the current period. */
  left(slot: number): number {
    return Math.max(0, this.#budget.amount - this.used(slot))
  }

  /** Whether any amount is left, after the return of reservations whose threads have died. */
  hasRest(slot: number): boolean {
    return this.left(slot) > 0 || (this.#sweep() && this.left(slot) > 0)
  }

  /** Reserves an amount; null when less than the amount is left. */
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

  /** Changes the amount of a reservation; returns false when the budget has too little left for a larger amount. */
  move(held: HeldAmount, amount: number): boolean {
    const { slot, period, lease } = held
    const more = amount - held.amount
    if (more > 0) this.#rolling?.expire(slot)
    if (more > 0 && !this.#table.grow(slot, period, more, this.#budget.amount)) return false
    // A lease that has ended needs no change, because its amount was returned.
    if (more < 0 && !this.renew(held)) return true
    held.amount = amount
    // The lease is never larger than the amount in the slot, so that the end of a dead thread's lease returns no amount
    // twice.
    if (lease !== null) this.#table.keep(lease, slot, period, amount)
    if (more < 0) this.#table.change(slot, period, more)
    return true
  }

  /** Replaces a reservation by the cost of the call; returns the period and the part that have the cost. */
  settle({ slot, period, lease, amount }: HeldAmount, spent: number): SettledPeriod {
    const isHeld = lease === null || this.#table.close(lease)
    this.#table.change(slot, period, isHeld ? spent - amount : spent)
    return { period, part: this.#rolling?.spend(slot, spent) ?? null }
  }

  /** Counts a cost that was not reserved; returns the period and the part that have the cost, or null without a cost. */
  charge(slot: number, spent: number): SettledPeriod | null {
    if (spent <= 0) return null
    const period = this.#table.charge(slot, this.#period, spent)
    return { period, part: this.#rolling?.spend(slot, spent) ?? null }
  }

  /** Returns a cost in the form that another process can settle. */
  settlement(slot: number, { period, part }: SettledPeriod, amount: number): MemorySettlement {
    const { id, maxKeys } = this.#budget
    const parts = part === null ? null : { table: tableId(partTableId(id), PartTable.size(this.#table.slots)), part }
    const table = tableId(id, SpendTable.size(maxKeys))
    return { kind: 'memory', table, slot, owner: this.#table.owner(slot), period, amount, parts }
  }

  /** Extends the lease of a reservation; false when the lease has ended. */
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

  /** Returns the reservations of dead threads to their budgets, at most once per second. */
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

/**
 * The amounts of a budget with a rolling period. The table holds the sum of spent and reserved amounts, and the parts
 * hold the spent amounts by time.
 */
class RollingAmounts {
  readonly #memory: RollingMemory
  readonly #parts: AccountParts

  constructor(memory: RollingMemory, parts: AccountParts) {
    this.#memory = memory
    this.#parts = parts
  }

  /** Adds an amount, which the sum in the table contains, to the current part; returns the part. */
  spend(slot: number, amount: number): number {
    const part = this.#part
    if (amount > 0) this.#subtract(slot, this.#memory.partTable.add(slot, part, amount))
    return part
  }

  /** Subtracts the amounts of parts that have left the period from the sum in the table. */
  expire(slot: number): void {
    this.#subtract(slot, this.#memory.partTable.expire(slot, this.#part))
  }

  /** Returns the time at which the oldest part leaves the period; the oldest is the current part when nothing was spent. */
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

/** The constant period number of rolling budgets in the table, whose sum never starts anew. */
const ROLLING_PERIOD = 1
const SWEEP_MS = 1_000
