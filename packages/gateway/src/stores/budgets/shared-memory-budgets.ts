import type { KeyedTables } from '../../state/keyed-tables.ts'
import { type Lease, SpendTable } from '../../state/spend-table.ts'
import { LEASE_MS, wholeAmount } from './budget-store.ts'
import type {
  Budget,
  BudgetBalance,
  BudgetDecision,
  BudgetReservation,
  BudgetRoom,
  BudgetShare,
  BudgetStore,
} from './budget-store.ts'

interface MemoryParts {
  tables: KeyedTables
  /** Milliseconds since 1970. */
  clock(): number
  /** Milliseconds of a clock that all workers share. */
  monotonic(): number
  random(): number
}

/** Budgets in memory that the workers of one process share. All calls are synchronous. */
export class SharedMemoryBudgets implements BudgetStore {
  readonly #parts: MemoryParts
  readonly #accounts = new WeakMap<Budget, BudgetAccounts>()
  readonly #tables = new WeakMap<SharedArrayBuffer, SpendTable>()

  constructor(parts: MemoryParts) {
    this.#parts = parts
  }

  prepare(room: BudgetRoom): boolean {
    return this.#tableOf(room) !== null
  }

  open(shares: readonly BudgetShare[]): MemoryReservation {
    return new MemoryReservation(shares.map(({ budget, key }) => ({ own: this.#accountsOf(budget), key })))
  }

  look(shares: readonly BudgetShare[]): BudgetDecision {
    return this.open(shares).check()
  }

  balances(shares: readonly BudgetShare[]): BudgetBalance[] {
    return shares.map(({ budget, key }) => {
      const own = this.#accountsOf(budget)
      const slot = own?.slot(key) ?? null
      return {
        used: own === null || slot === null ? 0 : own.used(slot),
        end: budget.periodAt(this.#parts.clock()).end,
      }
    })
  }

  #accountsOf(budget: Budget): BudgetAccounts | null {
    const known = this.#accounts.get(budget)
    if (known !== undefined) return known
    const table = this.#tableOf(budget)
    if (table === null) return null
    const accounts = new BudgetAccounts(budget, table, this.#parts)
    this.#accounts.set(budget, accounts)
    return accounts
  }

  #tableOf({ id, maxKeys }: BudgetRoom): SpendTable | null {
    const buffer = this.#parts.tables.keyed(id, SpendTable.size(maxKeys))
    if (buffer === null) return null
    const table = this.#tables.get(buffer) ?? new SpendTable(buffer, () => this.#parts.random())
    this.#tables.set(buffer, table)
    return table
  }
}

/** The amount that a request has reserved of one budget. */
interface HeldAmount {
  readonly slot: number
  readonly period: number
  readonly lease: Lease | null
  amount: number
}

/** The accounts of a share; null when there is no room for its key. */
type ShareAccount = { readonly own: BudgetAccounts; readonly slot: number } | null

class MemoryReservation implements BudgetReservation {
  readonly #accounts: readonly ShareAccount[]
  #held: HeldAmount[] = []

  constructor(shares: readonly { readonly own: BudgetAccounts | null; readonly key: string }[]) {
    this.#accounts = shares.map(({ own, key }) => {
      const slot = own?.slot(key) ?? null
      return own === null || slot === null ? null : { own, slot }
    })
  }

  get amounts(): readonly number[] {
    return this.#held.map(({ amount }) => amount)
  }

  check(): BudgetDecision {
    const index = this.#accounts.findIndex((account) => account === null || !account.own.hasRest(account.slot))
    return index === -1 ? null : this.#exceeded(index)
  }

  reserve(amounts: readonly number[]): BudgetDecision {
    return this.#held.length === 0 ? this.#take(amounts) : this.#move(amounts)
  }

  renew(): void {
    for (const [index, held] of this.#held.entries()) this.#accounts[index]?.own.renew(held)
  }

  settle(spent: readonly number[]): void {
    for (const [index, account] of this.#accounts.entries()) {
      const held = this.#held[index]
      const cost = wholeAmount(spent[index] ?? 0)
      if (held !== undefined) account?.own.settle(held, cost)
      else account?.own.charge(account.slot, cost)
    }
    this.#held = []
  }

  #take(amounts: readonly number[]): BudgetDecision {
    for (const [index, account] of this.#accounts.entries()) {
      const held = account?.own.reserve(account.slot, amounts[index] ?? 0) ?? null
      if (held === null) {
        const decision = this.#exceeded(index)
        for (const [taken, before] of this.#held.entries()) this.#accounts[taken]?.own.settle(before, 0)
        this.#held = []
        return decision
      }
      this.#held.push(held)
    }
    return null
  }

  /** Larger amounts come first, so that a refusal changes nothing. */
  #move(amounts: readonly number[]): BudgetDecision {
    const before = this.amounts
    const grown: number[] = []
    for (const [index, amount] of amounts.entries()) {
      if (amount <= (before[index] ?? 0)) continue
      if (!this.#moveOne(index, amount)) {
        const decision = this.#exceeded(index)
        for (const other of grown) this.#moveOne(other, before[other] ?? 0)
        return decision
      }
      grown.push(index)
    }
    for (const [index, amount] of amounts.entries()) if (amount < (before[index] ?? 0)) this.#moveOne(index, amount)
    return null
  }

  #moveOne(index: number, amount: number): boolean {
    const held = this.#held[index]
    return held === undefined || this.#accounts[index]?.own.move(held, amount) !== false
  }

  #exceeded(index: number): BudgetDecision {
    const account = this.#accounts[index] ?? null
    if (account === null) return { kind: 'keysFull', index }
    const { now, end } = account.own.period
    return { kind: 'exceeded', index, left: account.own.left(account.slot), end, now }
  }
}

/** The amounts of one budget, by slot of its table. */
class BudgetAccounts {
  readonly #table: SpendTable
  readonly #budget: Budget
  readonly #parts: MemoryParts
  #sweptAt = -Infinity
  /** The key of the last request with its slot: most budgets have one key. */
  #last: { readonly key: string; readonly slot: number | null } | null = null

  constructor(budget: Budget, table: SpendTable, parts: MemoryParts) {
    this.#budget = budget
    this.#table = table
    this.#parts = parts
  }

  /** The slot of a key; null when there is no room for another key. */
  slot(key: string): number | null {
    if (this.#last?.key !== key) this.#last = { key, slot: this.#table.slot(key) }
    return this.#last.slot
  }

  get period(): { number: number; end: number; now: number } {
    const now = this.#parts.clock()
    const { number, end } = this.#budget.periodAt(now)
    return { number, end, now }
  }

  /** The amount that is spent or reserved in the current period. */
  used(slot: number): number {
    return this.#table.amount(slot, this.period.number)
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
  }

  /** Counts an amount that was not reserved. */
  charge(slot: number, spent: number): void {
    if (spent > 0) this.#table.charge(slot, this.period.number, spent)
  }

  /** Moves the end of the lease; false when the lease has ended. */
  renew({ lease }: HeldAmount): boolean {
    return lease === null || this.#table.renew(lease, this.#parts.monotonic() + LEASE_MS)
  }

  #take(slot: number, amount: number): number | null {
    const { number } = this.period
    const taken = this.#table.take(slot, number, amount, this.#budget.amount)
    if (taken !== null || !this.#sweep()) return taken
    return this.#table.take(slot, number, amount, this.#budget.amount)
  }

  /** Takes back the reservations of threads that died, at most once per second. */
  #sweep(): boolean {
    const now = this.#parts.monotonic()
    if (now - this.#sweptAt < SWEEP_MS) return false
    this.#sweptAt = now
    return this.#table.sweep(now) > 0
  }
}

const SWEEP_MS = 1_000
