import type { Period } from '../state/calendar.ts'
import type { Lease } from '../state/spend-table.ts'
import type { SpendAccounts } from './spend-accounts.ts'

/** A reservation in one limit. */
export interface Reservation {
  readonly slot: number
  readonly period: number
  readonly lease: Lease | null
  amount: number
}

type LimitUnit = 'requests' | 'tokens' | 'calls'

interface SpendNumbers {
  /** Returns the name of the limit for responses, logs and traces; a function, because few requests need the name. */
  readonly name: () => string
  readonly unit: LimitUnit
  /** In the unit. */
  readonly amount: number
  readonly periodAt: (now: number) => Period
}

/** The number of requests, tokens or calls at once that each account of a limit may use in a period. All workers and generations share the accounts. */
export class SpendLimit {
  readonly unit: LimitUnit
  readonly amount: number
  readonly #name: () => string
  readonly #accounts: SpendAccounts
  readonly #periodAt: (now: number) => Period

  constructor({ name, unit, amount, periodAt }: SpendNumbers, accounts: SpendAccounts) {
    this.#name = name
    this.unit = unit
    this.amount = amount
    this.#accounts = accounts
    this.#periodAt = periodAt
  }

  get name(): string {
    return this.#name()
  }

  /** The slot of an account; null when no room is left for another one. */
  slot(account: string): number | null {
    return this.#accounts.table.slot(account)
  }

  /** The amount that is spent or reserved in the current period. */
  used(slot: number): number {
    return this.#accounts.table.amount(slot, this.period.number)
  }

  /** The rest in the current period. */
  left(slot: number): number {
    return Math.max(0, this.amount - this.used(slot))
  }

  /** Whether anything is left, once the reservations of threads that died are taken back. */
  hasRest(slot: number): boolean {
    return this.left(slot) > 0 || (this.#accounts.sweep() && this.left(slot) > 0)
  }

  get period(): Period {
    return this.#periodAt(this.#accounts.now())
  }

  /** Reserves an amount; null when less is left. */
  reserve(slot: number, amount: number): Reservation | null {
    const { table } = this.#accounts
    const lease = table.open(this.#accounts.leaseEnd())
    const period = this.spend(slot, amount)
    if (period === null) {
      if (lease !== null) table.close(lease)
      return null
    }
    if (lease !== null) table.keep(lease, slot, period, amount)
    return { slot, period, lease, amount }
  }

  /** Changes the amount of a reservation; false when there is no room for a larger one. */
  move(reservation: Reservation, amount: number): boolean {
    const { table } = this.#accounts
    const { slot, period, lease } = reservation
    const more = amount - reservation.amount
    if (more > 0 && !table.grow(slot, period, more, this.amount)) return false
    // A lease that has ended was taken back already.
    if (more < 0 && !this.renew(reservation)) return true
    reservation.amount = amount
    // The lease is never for more than the slot has, so that a thread that dies gives nothing back twice.
    if (lease !== null) table.keep(lease, slot, period, amount)
    if (more < 0) table.change(slot, period, more)
    return true
  }

  /** Replaces a reservation by what the call has cost. */
  settle({ slot, period, lease, amount }: Reservation, spent: number): void {
    const { table } = this.#accounts
    const isHeld = lease === null || table.close(lease)
    table.change(slot, period, isHeld ? spent - amount : spent)
  }

  /** Spends an amount without a lease; returns the period that it counts in, or null when less is left. */
  spend(slot: number, amount: number): number | null {
    const { table } = this.#accounts
    const { number } = this.period
    const taken = table.take(slot, number, amount, this.amount)
    if (taken !== null || !this.#accounts.sweep()) return taken
    return table.take(slot, number, amount, this.amount)
  }

  /** Undoes `spend`, unless its period is over. */
  giveBack(slot: number, period: number, amount: number): void {
    this.#accounts.table.change(slot, period, -amount)
  }

  /** Counts an amount that was not reserved, even beyond the limit. */
  charge(slot: number, spent: number): void {
    this.#accounts.table.charge(slot, this.period.number, spent)
  }

  /** Moves the end of the lease; false when the lease has ended. */
  renew({ lease }: Reservation): boolean {
    return lease === null || this.#accounts.table.renew(lease, this.#accounts.leaseEnd())
  }
}
