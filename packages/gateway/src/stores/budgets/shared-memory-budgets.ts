import type { KeyedTables } from '../../state/keyed-tables.ts'
import { PartTable, partTableId } from '../../state/part-table.ts'
import { SpendTable } from '../../state/spend-table.ts'
import { type AccountParts, BudgetAccounts, type BudgetMemory, type HeldAmount } from './budget-accounts.ts'
import type { Settlement } from './settlement.ts'
import { wholeAmount } from './budget-store.ts'
import type {
  Budget,
  BudgetBalance,
  BudgetDecision,
  BudgetReservation,
  BudgetRoom,
  BudgetShare,
  BudgetStore,
  SettlingGate,
} from './budget-store.ts'

interface MemoryParts extends AccountParts {
  tables: KeyedTables
  /** Reservations wait while amounts are saved; null where that is not needed. */
  settling?: SettlingGate | null
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
    return this.#memoryOf(room) !== null
  }

  open(shares: readonly BudgetShare[]): MemoryReservation {
    return new MemoryReservation(
      shares.map(({ budget, key }) => ({ own: this.#accountsOf(budget), key })),
      this.#parts.settling ?? null,
    )
  }

  look(shares: readonly BudgetShare[]): BudgetDecision {
    return this.open(shares).check()
  }

  balances(shares: readonly BudgetShare[]): BudgetBalance[] {
    return shares.map(({ budget, key }) => {
      const own = this.#accountsOf(budget)
      const slot = own?.slot(key) ?? null
      return own === null || slot === null
        ? { used: 0, end: budget.periodAt(this.#parts.clock()).end }
        : { used: own.used(slot), end: own.end(slot) }
    })
  }

  #accountsOf(budget: Budget): BudgetAccounts | null {
    const known = this.#accounts.get(budget)
    if (known !== undefined) return known
    const memory = this.#memoryOf(budget)
    if (memory === null) return null
    const accounts = new BudgetAccounts(budget, memory, this.#parts)
    this.#accounts.set(budget, accounts)
    return accounts
  }

  #memoryOf({ id, maxKeys, partMs }: BudgetRoom): BudgetMemory | null {
    const buffer = this.#parts.tables.keyed(id, SpendTable.size(maxKeys))
    if (buffer === null) return null
    const table = this.#tables.get(buffer) ?? new SpendTable(buffer, () => this.#parts.random())
    this.#tables.set(buffer, table)
    if (partMs === null) return { table, parts: null }
    const parts = this.#parts.tables.keyed(partTableId(id), PartTable.size(table.slots))
    return parts === null ? null : { table, parts: new PartTable(parts) }
  }
}

/** The accounts of a share; null when there is no room for its key. */
type ShareAccount = { readonly own: BudgetAccounts; readonly slot: number } | null

class MemoryReservation implements BudgetReservation {
  readonly #accounts: readonly ShareAccount[]
  readonly #settling: SettlingGate | null
  #held: HeldAmount[] = []

  constructor(
    shares: readonly { readonly own: BudgetAccounts | null; readonly key: string }[],
    settling: SettlingGate | null,
  ) {
    this.#settling = settling
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
    this.#settling?.enter()
    try {
      return this.#held.length === 0 ? this.#take(amounts) : this.#move(amounts)
    } finally {
      this.#settling?.leave()
    }
  }

  renew(): void {
    for (const [index, held] of this.#held.entries()) this.#accounts[index]?.own.renew(held)
  }

  settle(spent: readonly number[], record?: Settlement[]): void {
    for (const [index, account] of this.#accounts.entries()) {
      if (account === null) continue
      const { own, slot } = account
      const held = this.#held[index]
      const amount = wholeAmount(spent[index] ?? 0)
      const settled = held === undefined ? own.charge(slot, amount) : own.settle(held, amount)
      if (settled !== null && amount > 0) record?.push(own.settlement(slot, settled, amount))
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
    const { own, slot } = account
    return { kind: 'exceeded', index, left: own.left(slot), end: own.end(slot), now: own.now }
  }
}
