import { createKeyedTable } from '../../state/keyed-budgets.ts'
import { describeBudgets } from '../testing/budget-contract.ts'
import { SharedMemoryBudgets } from './shared-memory-budgets.ts'

describeBudgets('shared memory', async () => {
  const time = { now: 0 }
  const tables = new Map<string, SharedArrayBuffer>()
  const keyed = (name: string, size: number): SharedArrayBuffer => {
    const table = tables.get(name) ?? createKeyedTable(size)
    tables.set(name, table)
    return table
  }
  const clock = (): number => time.now
  return {
    tooManyKeys: 20_000,
    open: () =>
      new SharedMemoryBudgets({
        tables: { keyTable: () => null, keyed },
        clock,
        monotonic: clock,
        random: Math.random,
      }),
    setClock: async (now) => void (time.now = now),
    settled: async () => {},
  }
})
