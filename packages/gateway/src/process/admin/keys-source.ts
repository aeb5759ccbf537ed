import type { KeysSource } from '../../admin/keys/keys-routes.ts'
import type { Keys } from '../../keys/keys.ts'
import { describeBudgets } from '../../keys/usage.ts'
import { SpendAccounts } from '../../spending/spend-accounts.ts'
import { monotonic } from '../../state/clock.ts'
import type { TableSet } from '../../state/keyed-tables.ts'

/** The store of keys for the admin API; null without `config.keys`. `tables` are those of the live config. */
export function createKeysSource(keys: Keys | null, tables: () => TableSet): KeysSource | null {
  if (keys === null) return null
  return {
    ask: keys.ask.bind(keys),
    spent({ id, budgets = [] }) {
      // A config without a policy for keys of the store has no table: nothing is spent.
      const buffer = [...tables()].find(([name]) => name.endsWith(' keys/budget/store'))?.[1]
      if (buffer === undefined) return []
      const accounts = new SpendAccounts(buffer, { random: Math.random, clock: Date.now, monotonic })
      return describeBudgets({ id, title: '', budgets }, accounts)
    },
  }
}
