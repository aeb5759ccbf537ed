import type { SharedCounters } from '@portico/http/client'
import { KeptTables, type KeyedTables, type TableSet } from './keyed-tables.ts'
import { monotonic } from './clock.ts'
import { type SharedTable, TableCells } from './shared-table.ts'

/**
 * The shared table as the main thread uses it. The main thread reserves every key of a config before workers get the
 * config: a config that does not fit is rejected, and a live config always finds its keys. When the table is crowded,
 * keys that are not in the live config and were unused for a day are replaced.
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

  /** Whether slots may be reserved for keys that the live config no longer has. */
  get isLoose(): boolean {
    return this.#isLoose
  }

  keyed(name: string, size: number): SharedArrayBuffer | null {
    return this.#tables.keyed(name, size)
  }

  keyTable(): SharedArrayBuffer | null {
    return this.#tables.keyTable()
  }

  /** Sets the table of API keys, which every config has from then on. */
  useKeys(table: SharedArrayBuffer): void {
    this.#tables.useKeys(table)
  }

  /** Sets the function that fills each new table before it is used. */
  fillTables(fill: (id: string, table: SharedArrayBuffer) => void): void {
    this.#tables.created = fill
  }

  get tables(): TableSet {
    return this.#tables.all
  }

  /** Whether tables are left over that only a reload of the whole config can release. */
  get isCrowded(): boolean {
    return this.#tables.hasLeftovers
  }

  /** Makes the reservations of the tried config those of the live config. */
  keep(): void {
    this.#tables.keep()
    this.#live = this.#next
    this.#next = new Set()
    this.#isLoose = false
  }

  /**
   * Adds the reservations of a partial reload to those of the live config. Keys that are no longer needed stay
   * reserved.
   */
  keepAlso(): void {
    this.#tables.keepAlso()
    for (const slot of this.#next) this.#live.add(slot)
    this.#next = new Set()
    this.#isLoose = true
  }

  /** Drops the reservations of a config that was rejected. */
  drop(): void {
    this.#tables.drop()
    this.#next = new Set()
  }
}
