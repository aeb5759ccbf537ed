import type { KeysSource } from '../../admin/keys/keys-routes.ts'
import { viewKeyTable } from '../../keys/table/key-table.ts'
import type { Keys } from '../../keys/keys.ts'
import { describeBudgets } from '../../keys/usage.ts'
import { monotonic } from '../../state/clock.ts'
import { GivenTables, type TableSet } from '../../state/keyed-tables.ts'
import type { BudgetStore } from '../../stores/budgets/budget-store.ts'
import { SharedMemoryBudgets } from '../../stores/budgets/shared-memory-budgets.ts'
import type { RedisSettings } from '../../stores/redis/connect.ts'
import type { RedisBudgets } from '../../stores/redis/redis-budgets.ts'
import type { Logger } from '../../telemetry/log/logger.ts'

interface BudgetParts {
  /** Null without `config.stores.redis`. */
  readonly redis: RedisSettings | null
  /** Returns the tables of the live config. */
  readonly tables: () => TableSet
  readonly log: Logger
}

/** The store of keys for the admin API, with what is spent of their budgets. */
export class KeysWithBudgets implements KeysSource {
  readonly ask: KeysSource['ask']
  readonly #entries: number
  readonly #tables: () => TableSet
  readonly #redis: RedisBudgets | null

  private constructor(keys: Keys, redis: RedisBudgets | null, tables: () => TableSet) {
    this.ask = keys.ask.bind(keys)
    this.#entries = viewKeyTable(keys.table).slots
    this.#redis = redis
    this.#tables = tables
  }

  static async open(keys: Keys, { redis, tables, log }: BudgetParts): Promise<KeysWithBudgets> {
    if (redis === null) return new KeysWithBudgets(keys, null, tables)
    const { openRedisBudgets } = await import('../../stores/redis/open-budgets.ts')
    // The workers count and report failures of the store; this connection only reads.
    const parts = { clock: Date.now, record() {}, countLost() {}, log }
    return new KeysWithBudgets(keys, openRedisBudgets(redis, parts), tables)
  }

  spent: KeysSource['spent'] = (spender) => describeBudgets(spender, this.#budgets, this.#entries)

  async close(): Promise<void> {
    await this.#redis?.close(0)
  }

  get #budgets(): BudgetStore {
    if (this.#redis !== null) return this.#redis
    const tables = new GivenTables()
    tables.take(this.#tables())
    return new SharedMemoryBudgets({ tables, clock: Date.now, monotonic, random: Math.random })
  }
}
