import { PartTable, type SavedParts } from '../../state/part-table.ts'
import { type SavedSpending, SpendTable } from '../../state/spend-table.ts'
import type { MemorySettlement } from '../../stores/budgets/settlement.ts'

/** A table in the file of budgets. */
export type SavedTable = SavedSpending | SavedParts

/** Adds the cost of a call to saved tables. A table that the file does not have stays unknown: its slots have no names. */
export function addCost(saved: Map<string, SavedTable>, cost: MemorySettlement): void {
  const table = saved.get(cost.table)
  if (table === undefined || 'words' in table) return
  const { slot, owner, period, amount, parts } = cost
  let gone = 0
  if (parts !== null) {
    const known = saved.get(parts.table) ?? { words: [] }
    if (!('words' in known)) return
    const added = PartTable.addSaved(known, { slot, part: parts.part, amount })
    saved.set(parts.table, added.saved)
    gone = added.gone
  }
  saved.set(cost.table, SpendTable.addSaved(table, { slot, owner, period, amount: amount - gone }))
}
