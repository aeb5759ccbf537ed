import { createKeyedTable } from '../../state/keyed-budgets.ts'
import { SharedMemoryBudgets } from '../../stores/budgets/shared-memory-budgets.ts'
import { seeded } from '../seeded.ts'
import type { SimulatedStores } from './budget-simulation.ts'

/**
 * Creates budget stores in memory. With `isShared`, all machines use one table, which decides as Redis does: both pass
 * the same contract tests. Otherwise each machine has a table of its own.
 */
export function memoryStores({ isShared }: { readonly isShared: boolean }): SimulatedStores {
  let now = 0
  const clock = (): number => now
  const tables = new Map<string, SharedArrayBuffer>()
  const random = seeded(1)
  return {
    open(machine) {
      const keyed = (name: string, size: number): SharedArrayBuffer => {
        const at = isShared ? name : `${name} of ${machine}`
        const table = tables.get(at) ?? createKeyedTable(size)
        tables.set(at, table)
        return table
      }
      return new SharedMemoryBudgets({ tables: { keyTable: () => null, keyed }, clock, monotonic: clock, random })
    },
    setClock: (time) => void (now = time),
    settled() {},
  }
}
