import { budgetRooms } from '../../keys/key-budgets.ts'
import { createKeyTable } from '../../keys/table/key-table.ts'
import { createKeyedTable } from '../../state/keyed-budgets.ts'
import { PartTable } from '../../state/part-table.ts'
import { SpendTable } from '../../state/spend-table.ts'
import type { BudgetRoom } from '../../stores/budgets/budget-store.ts'

/** Returns the memory of `config.keys` for several values of `maxKeys`, as a Markdown table. */
export function memoryTable(): string {
  const rows = [1_000, 10_000, 100_000].map((entries) => {
    const sizes = [createKeyTable(entries).byteLength, ...budgetRooms(entries).map(bytesOf)]
    return `| ${entries.toLocaleString('en')} | ${sizes.map(megabytes).join(' | ')} |`
  })
  return ['| `maxKeys` | keys and teams | their budgets | their rolling budgets |', '|---|---|---|---|', ...rows].join(
    '\n',
  )
}

function bytesOf({ maxKeys, partMs }: BudgetRoom): number {
  const table = createKeyedTable(SpendTable.size(maxKeys))
  if (partMs === null) return table.byteLength
  const { slots } = new SpendTable(table, Math.random)
  return table.byteLength + createKeyedTable(PartTable.size(slots)).byteLength
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
