import { createKeyedTable } from './keyed-budgets.ts'

/** Tables of budgets by key, which all workers share; they outlive reloads and workers. */
export interface KeyedTables {
  /** The same name and size give the same table in every worker and generation; null when there is no room for it. */
  keyed(name: string, size: number): SharedArrayBuffer | null
}

/** Tables by name and size. */
export type TableSet = ReadonlyMap<string, SharedArrayBuffer>

/** The tables as the main thread keeps them: made for a config that is being tried, kept while one that asks for them is live. */
export class KeptTables implements KeyedTables {
  /** Of the live config. */
  #live = new Map<string, SharedArrayBuffer>()
  /** Of the config that is being tried. */
  #next = new Map<string, SharedArrayBuffer>()

  keyed(name: string, size: number): SharedArrayBuffer | null {
    const id = idOf(name, size)
    const known = this.#next.get(id)
    if (known !== undefined) return known
    if (sizeOf(this.#next) + size > MOST_KEYS) return null
    const table = this.#live.get(id) ?? createKeyedTable(size)
    this.#next.set(id, table)
    return table
  }

  /** What workers need for the config that is being tried, and for the live one. */
  get all(): TableSet {
    return new Map([...this.#live, ...this.#next])
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

  /** Whether there are more than a config can ask for: some are left over from reloads of parts. */
  get hasLeftovers(): boolean {
    return sizeOf(this.#live) > MOST_KEYS
  }
}

/** The tables as a worker gets them with a config. */
export class GivenTables implements KeyedTables {
  #tables: TableSet = new Map()

  take(tables: TableSet): void {
    this.#tables = tables
  }

  keyed(name: string, size: number): SharedArrayBuffer | null {
    return this.#tables.get(idOf(name, size)) ?? null
  }
}

/** Of all limits of a config. */
export const MOST_KEYS = 4_000_000

function idOf(name: string, size: number): string {
  return `${size} ${name}`
}

function sizeOf(tables: TableSet): number {
  let size = 0
  for (const id of tables.keys()) size += Number.parseInt(id, 10)
  return size
}
