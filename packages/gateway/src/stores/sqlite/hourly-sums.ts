import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { LedgerEntry } from '../store.ts'
import { floorHour, GROUP_COLUMNS, HOUR_MS, TOKEN_COLUMNS } from '../usage-columns.ts'
import { COST_COLUMNS } from './cost-columns.ts'

/** The sums of entries by hour and by all fields that usage can be grouped by. They outlive the entries. */
export class HourlySums {
  readonly #add: StatementSync
  readonly #remove: StatementSync

  constructor(database: DatabaseSync) {
    const parts = [...TOKEN_COLUMNS, 'calls', 'unpriced_calls', 'saved_dollars', 'saved_nanos'].map(
      (name) => `${name} = ${name} + excluded.${name}`,
    )
    // A sum without a known cost has none: null is not 0.
    const costs = ['dollars', 'nanos'].map(
      (name) => `${name} = coalesce(${name} + excluded.${name}, ${name}, excluded.${name})`,
    )
    this.#add = database.prepare(
      `INSERT INTO usage_hours (${COLUMNS.join()}) VALUES (${COLUMNS.map(() => '?').join()})
       ON CONFLICT DO UPDATE SET ${[...parts, ...costs].join()}`,
    )
    const key = ['hour', ...GROUP_COLUMNS].join()
    this.#remove = database.prepare(
      `DELETE FROM usage_hours WHERE (${key}) IN (SELECT ${key} FROM usage_hours WHERE hour <= ? LIMIT ?)`,
    )
  }

  /** Adds new entries in the transaction that stores them, with one write for each group of entries. */
  add(entries: readonly LedgerEntry[]): void {
    const sums = new Map<string, GroupSum>()
    for (const entry of entries) {
      const group = groupOf(entry)
      const key = JSON.stringify(group)
      let sum = sums.get(key)
      if (sum === undefined) sums.set(key, (sum = new GroupSum(group)))
      sum.add(entry)
    }
    for (const sum of sums.values()) this.#add.run(...sum.values)
  }

  /** Removes up to `most` sums of hours that ended before `at`; returns their number. */
  removeBefore(at: number, most: number): number {
    return Number(this.#remove.run(at - HOUR_MS, most).changes)
  }
}

/**
 * A sum of US dollars: whole dollars and billionths are separate, because a sum of billionths may exceed the safe
 * integers.
 */
class Dollars {
  dollars = 0
  nanos = 0

  add(nanoDollars: number): void {
    this.dollars += Math.floor(nanoDollars / 1e9)
    this.nanos += nanoDollars % 1e9
  }
}

/** The sums of the entries in one group. */
class GroupSum {
  readonly #group: readonly (string | number)[]
  readonly #tokens = TOKENS.map(() => 0)
  #calls = 0
  #unpriced = 0
  #cost: Dollars | null = null
  readonly #saved = new Dollars()

  constructor(group: readonly (string | number)[]) {
    this.#group = group
  }

  add(entry: LedgerEntry): void {
    const { nanoDollars, savedNanoDollars } = entry
    this.#calls++
    for (const [i, field] of TOKENS.entries()) this.#tokens[i] = (this.#tokens[i] ?? 0) + (entry[field] ?? 0)
    if (nanoDollars === null) this.#unpriced++
    else (this.#cost ??= new Dollars()).add(nanoDollars)
    this.#saved.add(savedNanoDollars ?? 0)
  }

  /** The values in the order of `COLUMNS`. */
  get values(): (string | number | null)[] {
    const counts = [this.#calls, this.#unpriced, ...this.#tokens]
    const { dollars, nanos } = this.#cost ?? { dollars: null, nanos: null }
    return [...this.#group, ...counts, dollars, nanos, this.#saved.dollars, this.#saved.nanos]
  }
}

function groupOf(entry: LedgerEntry): (string | number)[] {
  const { at, key, team, route, requestedModel, model, provider, operation, status, basis, cache } = entry
  return [floorHour(at), key, team, route, requestedModel, model, provider, operation, status, basis, cache]
}

/** The fields of ledger entries, in the order of `TOKEN_COLUMNS`. */
const TOKENS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

const COLUMNS = ['hour', ...GROUP_COLUMNS, 'calls', 'unpriced_calls', ...TOKEN_COLUMNS, ...COST_COLUMNS]
