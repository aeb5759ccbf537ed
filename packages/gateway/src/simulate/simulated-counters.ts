import type { SharedCells, SharedCounters } from '@portico/http/client'
import { KeptTables } from '../state/keyed-tables.ts'
import { createTable, SharedTable } from '../state/shared-table.ts'

/** The counters of a simulated gateway. Their table is created at first use, because most configs under test have no limits. */
export class SimulatedCounters extends KeptTables implements SharedCounters {
  readonly #slots: number
  #table: SharedTable | null = null

  /** `slots` is a power of two. */
  constructor(slots: number) {
    super()
    this.#slots = slots
  }

  cells(key: string): SharedCells | null {
    this.#table ??= new SharedTable(createTable(this.#slots))
    return this.#table.cells(key)
  }
}
