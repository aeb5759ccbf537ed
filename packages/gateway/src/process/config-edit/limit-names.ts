import { checkCompile } from '../../compile/check.ts'
import type { Ir } from '../../ir/resources.ts'
import type { ConfigFault } from '../../pipeline/compiled/config-fault.ts'
import { isLimitName } from '../../policies/traffic/rate-limit/limit.ts'
import type { SharedCells, SharedCounters } from '@portico/http/client'
import type { KeyedTables } from '../../state/keyed-tables.ts'
import { Reservations } from '../../state/reservations.ts'
import { createTable, SharedTable } from '../../state/shared-table.ts'

/** Compiles a config without using the result; returns its faults and the names of its limits. */
export function compileApart(ir: Ir, workers: number): { faults: ConfigFault[]; limits: ReadonlySet<string> } {
  const room = new NamedRoom()
  const faults = checkCompile(ir, room, workers)
  return { faults, limits: room.limits }
}

/** Counters of a trial compilation, apart from those of the live config. Records the names of limits. */
class NamedRoom implements SharedCounters, KeyedTables {
  readonly limits = new Set<string>()
  readonly #room = new Reservations(new SharedTable(createTable()))

  cells(key: string): SharedCells | null {
    if (isLimitName(key)) this.limits.add(key)
    return this.#room.cells(key)
  }

  keyed(name: string, size: number): SharedArrayBuffer | null {
    this.limits.add(`${name} (${size} keys)`)
    return this.#room.keyed(name, size)
  }

  keyTable(): SharedArrayBuffer | null {
    return this.#room.keyTable()
  }
}
