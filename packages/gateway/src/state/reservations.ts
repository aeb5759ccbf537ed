import type { SharedCounters } from '../upstream/shared-counters.ts'
import { KeptTables, type KeyedTables, type TableSet } from './keyed-tables.ts'
import { monotonic } from './monotonic.ts'
import { type SharedTable, TableCells } from './shared-table.ts'

/**
 * The table as the main thread uses it. It asks for every key of a config before workers see it: a config that does
 * not fit is refused, and one that is live always finds its keys. When the table is crowded, keys that no live config
 * has and that were not used for a day make room.
 */
export class Reservations implements SharedCounters, KeyedTables {
  readonly #table: SharedTable
  readonly #now: () => number
  /** Slots of the live config. */
  #live = new Set<number>()
  /** Slots of the config that is being tried. */
  #next = new Set<number>()
  #isLoose = false
  readonly #tables = new KeptTables()

  constructor(table: SharedTable, now = monotonic) {
    this.#table = table
    this.#now = now
  }

  cells(key: string): TableCells | null {
    const path = this.#table.path(key)
    const isKept = (slot: number): boolean => this.#live.has(slot) || this.#next.has(slot)
    const slot = this.#table.locate(path) ?? this.#table.reuse(path, this.#now(), isKept)
    if (slot === null) return null
    this.#next.add(slot)
    return new TableCells(this.#table, path, slot)
  }

  /** Whether slots may be kept for keys that the live config no longer has. */
  get isLoose(): boolean {
    return this.#isLoose
  }

  keyed(name: string, size: number): SharedArrayBuffer | null {
    return this.#tables.keyed(name, size)
  }

  get tables(): TableSet {
    return this.#tables.all
  }

  /** Whether only a look at the whole config can tell what may go. */
  get isCrowded(): boolean {
    return this.#tables.hasLeftovers
  }

  /** The config whose keys were asked for is live. */
  keep(): void {
    this.#tables.keep()
    this.#live = this.#next
    this.#next = new Set()
    this.#isLoose = false
  }

  /** The same where only keys of what has changed were asked for: those of the rest stay, and a few that nobody has. */
  keepAlso(): void {
    this.#tables.keepAlso()
    for (const slot of this.#next) this.#live.add(slot)
    this.#next = new Set()
    this.#isLoose = true
  }

  /** It is not going to be. */
  drop(): void {
    this.#tables.drop()
    this.#next = new Set()
  }
}
