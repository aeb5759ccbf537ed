import { createKeyedTable } from './keyed-budgets.ts'

/** Tables of budgets by key. All workers share them; they outlive reloads and workers. */
export interface KeyedTables {
  /** Returns the same table for the same name and size in every worker and generation; null when there is no room. */
  keyed(name: string, size: number): SharedArrayBuffer | null
  /** The table of the API keys of the store; null without `config.keys`. */
  keyTable(): SharedArrayBuffer | null
}

/** The id of the table of API keys, unlike that of any other table. */
const KEY_TABLE = 'api keys'

/** Tables by name and size. */
export type TableSet = ReadonlyMap<string, SharedArrayBuffer>

/**
 * The tables in the main thread: created for a config that is being tried, and kept while a config that needs them is
 * live.
 */
export class KeptTables implements KeyedTables {
  /** Tables of the live config. */
  #live = new Map<string, SharedArrayBuffer>()
  /** Called with each new table, to fill it before it is used. */
  created: (id: string, table: SharedArrayBuffer) => void = () => undefined
  /** Tables of the config that is being tried. */
  #next = new Map<string, SharedArrayBuffer>()
  #keyTable: SharedArrayBuffer | null = null

  keyTable(): SharedArrayBuffer | null {
    return this.#keyTable
  }

  /** Sets the table of API keys, which every config has from then on. */
  useKeys(table: SharedArrayBuffer): void {
    this.#keyTable = table
  }

  keyed(name: string, size: number): SharedArrayBuffer | null {
    const id = tableId(name, size)
    const known = this.#next.get(id)
    if (known !== undefined) return known
    if (sizeOf(this.#next) + size > MOST_KEYS) return null
    const table = this.#live.get(id) ?? this.#create(id, size)
    this.#next.set(id, table)
    return table
  }

  #create(id: string, size: number): SharedArrayBuffer {
    const table = createKeyedTable(size)
    this.created(id, table)
    return table
  }

  /** The tables that workers need for the live config and the config that is being tried. */
  get all(): TableSet {
    const keys = this.#keyTable === null ? [] : [[KEY_TABLE, this.#keyTable] as const]
    return new Map([...this.#live, ...this.#next, ...keys])
  }

  keep(): void {
    this.#live = this.#next
    this.#next = new Map()
  }

  keepAlso(): void {
    for (const [id, table] of this.#next) this.#live.set(id, table)
    this.#next = new Map()
  }

  drop(): void {
    this.#next = new Map()
  }

  /** Whether there are more keys than a config may have, because partial reloads left some tables behind. */
  get hasLeftovers(): boolean {
    return sizeOf(this.#live) > MOST_KEYS
  }
}

/** The tables that a worker received with a config. */
export class GivenTables implements KeyedTables {
  #tables: TableSet = new Map()

  take(tables: TableSet): void {
    this.#tables = tables
  }

  keyed(name: string, size: number): SharedArrayBuffer | null {
    return this.#tables.get(tableId(name, size)) ?? null
  }

  keyTable(): SharedArrayBuffer | null {
    return this.#tables.get(KEY_TABLE) ?? null
  }
}

/** The most keys that all limits of a config may have together. */
export const MOST_KEYS = 4_000_000

/** Returns the id of a table in a `TableSet`. */
export function tableId(name: string, size: number): string {
  return `${size} ${name}`
}

function sizeOf(tables: TableSet): number {
  let size = 0
  for (const id of tables.keys()) size += Number.parseInt(id, 10)
  return size
}
