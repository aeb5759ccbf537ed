import { Double, type Result, Uint } from '@portico/cel'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { createCalendar, type Period } from '../../../state/calendar.ts'
import { type Lease, SpendTable } from '../../../state/spend-table.ts'
import type { BudgetConfig } from './schema.ts'

type LimitConfig = BudgetConfig['limits'][number]

/** A reservation in one budget. */
export interface Reservation {
  readonly limit: BudgetLimit
  readonly slot: number
  readonly period: number
  readonly lease: Lease | null
  amount: number
}

/** One budget, or one for each key, shared by all workers and generations. */
export class BudgetLimit {
  readonly name: string
  readonly unit: 'usd' | 'tokens'
  /** In billionths of a US dollar, or in tokens. */
  readonly amount: number
  readonly #table: SpendTable
  readonly #keyOf: (rx: RequestContext) => string
  readonly #periodAt: (now: number) => Period
  readonly #env: Env
  #sweptAt = -Infinity

  constructor(config: LimitConfig, env: Env) {
    const { name, usd, tokens, per, timeZone, key, maxKeys } = config
    this.name = name
    this.unit = usd === undefined ? 'tokens' : 'usd'
    this.amount = usd === undefined ? tokens : Math.round(usd * 1e9)
    const size = SpendTable.size(key === undefined ? 1 : maxKeys)
    // A change of the amount keeps what was spent.
    const buffer = env.tables.keyed(
      `${env.attachment}/budget/${name}/${this.unit}/${per}/${timeZone}/${key ?? ''}`,
      size,
    )
    if (buffer === null) {
      const found = `found no room for ${maxKeys} keys of the budget ${name}`
      throw new ConfigFault(config, [], { found, expected: 'fewer keys' })
    }
    this.#table = new SpendTable(buffer, env.random)
    const expression = key === undefined ? null : env.cel(key, 'request')
    this.#keyOf = (rx) => (expression === null ? 'all' : keyText(expression.evaluate(rx)))
    this.#periodAt = createCalendar(per, timeZone)
    this.#env = env
  }

  /** The slot of the budget of a request; null when no room is left for its key. */
  slotOf(rx: RequestContext): number | null {
    return this.#table.slot(this.#keyOf(rx))
  }

  /** The rest of the budget in the current period. */
  left(slot: number): number {
    return Math.max(0, this.amount - this.#table.amount(slot, this.period.number))
  }

  /** Whether anything is left, once the reservations of threads that died are taken back. */
  hasRest(slot: number): boolean {
    return this.left(slot) > 0 || (this.#sweep() && this.left(slot) > 0)
  }

  get period(): Period {
    return this.#periodAt(this.#env.clock())
  }

  /** Reserves an amount; null when less is left. */
  reserve(slot: number, amount: number): Reservation | null {
    const lease = this.#table.open(this.#env.monotonic() + LEASE_MS)
    const period = this.#take(slot, amount)
    if (period === null) {
      if (lease !== null) this.#table.close(lease)
      return null
    }
    if (lease !== null) this.#table.keep(lease, slot, period, amount)
    return { limit: this, slot, period, lease, amount }
  }

  /** Changes the amount of a reservation; false when there is no room for a larger one. */
  move(reservation: Reservation, amount: number): boolean {
    const { slot, period, lease } = reservation
    const more = amount - reservation.amount
    if (more > 0 && !this.#table.grow(slot, period, more, this.amount)) return false
    // A lease that has ended was taken back already.
    if (more < 0 && !this.renew(reservation)) return true
    reservation.amount = amount
    // The lease is never for more than the slot has, so that a thread that dies gives nothing back twice.
    if (lease !== null) this.#table.keep(lease, slot, period, amount)
    if (more < 0) this.#table.change(slot, period, more)
    return true
  }

  /** Replaces a reservation by what the call has cost. */
  settle({ slot, period, lease, amount }: Reservation, spent: number): void {
    const isHeld = lease === null || this.#table.close(lease)
    this.#table.change(slot, period, isHeld ? spent - amount : spent)
  }

  /** Counts an amount that was not reserved. */
  charge(slot: number, spent: number): void {
    this.#table.charge(slot, this.period.number, spent)
  }

  /** Moves the end of the lease; false when the lease has ended. */
  renew({ lease }: Reservation): boolean {
    return lease === null || this.#table.renew(lease, this.#env.monotonic() + LEASE_MS)
  }

  #take(slot: number, amount: number): number | null {
    const { number } = this.period
    const taken = this.#table.take(slot, number, amount, this.amount)
    if (taken !== null || !this.#sweep()) return taken
    return this.#table.take(slot, number, amount, this.amount)
  }

  /** Takes back the reservations of threads that died, at most once per second. */
  #sweep(): boolean {
    const now = this.#env.monotonic()
    if (now - this.#sweptAt < SWEEP_MS) return false
    this.#sweptAt = now
    return this.#table.sweep(now) > 0
  }
}

/** A lease is renewed while its call lives; that of a thread that died ends after this time. */
export const LEASE_MS = 30_000
const SWEEP_MS = 1_000

/** Requests without a key share a separate budget. */
function keyText(value: Result): string {
  if (typeof value === 'string') return `key ${value}`
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return `key ${value}`
  if (value instanceof Double || value instanceof Uint) return `key ${value.value}`
  return 'none'
}
