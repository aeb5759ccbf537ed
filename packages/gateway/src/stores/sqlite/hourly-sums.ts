import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { LedgerEntry } from '../store.ts'
import { floorHour, GROUP_COLUMNS, HOUR_MS, TOKEN_COLUMNS } from '../usage-columns.ts'
import { COST_COLUMNS } from './cost-columns.ts'

/** The sums of entries by hour and by all fields that usage can be grouped by. They outlive the entries. */
export class HourlySums {
  readonly #add: StatementSync
  readonly #remove: StatementSync

  constructor(database: DatabaseSync) {
    const parts = [...TOKEN_COLUMNS, 'unpriced_calls', 'saved_dollars', 'saved_nanos'].map(
      (name) => `${name} = ${name} + excluded.${name}`,
    )
    // A sum without a known cost has none: null is not 0.
    const costs = ['dollars', 'nanos'].map(
      (name) => `${name} = coalesce(${name} + excluded.${name}, ${name}, excluded.${name})`,
    )
    this.#add = database.prepare(
      `INSERT INTO usage_hours (${COLUMNS.join()}) VALUES (${COLUMNS.map((name) => `:${name}`).join()})
       ON CONFLICT DO UPDATE SET ${['calls = calls + 1', ...parts, ...costs].join()}`,
    )
    const key = ['hour', ...GROUP_COLUMNS].join()
    this.#remove = database.prepare(
      `DELETE FROM usage_hours WHERE (${key}) IN (SELECT ${key} FROM usage_hours WHERE hour <= ? LIMIT ?)`,
    )
  }

  /** Adds an entry that is new, in the transaction that stores the entry. */
  add(entry: LedgerEntry): void {
    const { at, nanoDollars, key, team, route, requestedModel, model, provider, operation, status, basis, cache } =
      entry
    const saved = entry.savedNanoDollars ?? 0
    this.#add.run({
      hour: floorHour(at),
      ...{ key, team, route, requested_model: requestedModel, model, provider, operation, status, basis, cache },
      calls: 1,
      unpriced_calls: nanoDollars === null ? 1 : 0,
      input_tokens: entry.inputTokens ?? 0,
      output_tokens: entry.outputTokens ?? 0,
      cache_read_tokens: entry.cacheReadTokens ?? 0,
      cache_write_tokens: entry.cacheWriteTokens ?? 0,
      reasoning_tokens: entry.reasoningTokens ?? 0,
      dollars: nanoDollars === null ? null : Math.floor(nanoDollars / 1e9),
      nanos: nanoDollars === null ? null : nanoDollars % 1e9,
      saved_dollars: Math.floor(saved / 1e9),
      saved_nanos: saved % 1e9,
    })
  }

  /** Removes up to `most` sums of hours that ended before `at`; returns their number. */
  removeBefore(at: number, most: number): number {
    return Number(this.#remove.run(at - HOUR_MS, most).changes)
  }
}

const COLUMNS = ['hour', ...GROUP_COLUMNS, 'calls', 'unpriced_calls', ...TOKEN_COLUMNS, ...COST_COLUMNS]
