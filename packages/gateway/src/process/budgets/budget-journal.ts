import * as fs from 'node:fs'
import { join } from 'node:path'
import { isPartTable, PartTable } from '../../state/part-table.ts'
import { type KnownSlot, SpendTable } from '../../state/spend-table.ts'
import type { DeadJournal } from '../../ledger/dead-journals.ts'
import type { JournalControl } from '../../ledger/journal-control.ts'
import { addCost, type SavedTable } from './add-cost.ts'
import type { TableSet } from '../../state/keyed-tables.ts'
import type { Logger } from '../../telemetry/log/logger.ts'

/** The contents of the file. */
interface SavedBudgets {
  readonly version: number
  readonly tables: Readonly<Record<string, SavedTable>>
  /** The last line of each journal of the ledger whose cost is in the tables. */
  readonly journals?: Readonly<Record<string, number>>
}

/** The journals of the ledger, whose lines have costs that the file may lack when a process is killed. */
interface SettlingJournals {
  /** The journals of the workers of this process by name. */
  readonly journals: ReadonlyMap<string, JournalControl>
  /** Called when the file has the costs of more lines. */
  budgetsSaved(): void
}

/**
 * Keeps the amounts that budgets have spent in a file, so that a restart does not begin them anew. The file is written
 * every second, if something was spent, and when the gateway ends. Calls that were under way when a process was killed are
 * not in the file. With a ledger, costs of the last second are in its journals, and are added at the next start.
 */
export class BudgetJournal {
  readonly #file: string
  readonly #lock: string
  readonly #log: Logger
  /** The tables of the file, also those that the live config does not have: a config that has them again continues. */
  readonly #saved: Map<string, SavedTable>
  /** The slots of each table as they were at the last save. */
  readonly #known = new WeakMap<SharedArrayBuffer, Map<number, KnownSlot>>()
  /** The last line of each journal whose cost is in `#saved`. */
  #lines: Map<string, number>
  #settling: SettlingJournals | null = null
  #written = ''
  /** Copies of tables that workers change all the time. */
  readonly #copies = new Map<string, SharedArrayBuffer>()
  /** The turns of workers at the last save. */
  #turns: readonly (number | null)[] = []
  #needsCopies = false
  #timer: NodeJS.Timeout | null = null
  #warnedAt = -Infinity

  private constructor(folder: string, { tables, journals = {} }: SavedBudgets, log: Logger) {
    this.#file = join(folder, FILE)
    this.#lock = join(folder, LOCK)
    this.#saved = new Map(Object.entries(tables))
    this.#lines = new Map(Object.entries(journals))
    this.#log = log
  }

  /** Opens the folder and creates it if it is missing; returns a text when the gateway must not start with it. */
  static open(folder: string, log: Logger): BudgetJournal | string {
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
      const lock = join(folder, LOCK)
      const owner = otherOwner(lock)
      // After a crash, the number may belong to another program.
      if (owner !== null)
        return `the process ${owner} uses the state folder ${folder} already; if it is no gateway, remove ${lock}`
      fs.writeFileSync(lock, `${process.pid}\n`, { mode: 0o600 })
      const saved = readSaved(join(folder, FILE))
      return typeof saved === 'string' ? saved : new BudgetJournal(folder, saved, log)
    } catch (error) {
      return `the state folder ${folder} cannot be used: ${(error as Error).message}`
    }
  }

  /** Fills a new table with what the file has of it. */
  fill(id: string, buffer: SharedArrayBuffer): void {
    const saved = this.#saved.get(id)
    if (saved === undefined) return this.#saveNew(id, buffer)
    if ('words' in saved) PartTable.restore(buffer, saved)
    else SpendTable.restore(buffer, saved)
  }

  /** Lines of journals name slots, whose numbers depend on the salt of the table: it is saved before the first call. */
  #saveNew(id: string, buffer: SharedArrayBuffer): void {
    if (this.#settling === null || !isBudgetTable(id)) return
    this.#saved.set(id, this.#saveTable(id, buffer))
    this.#write()
  }

  /**
   * Adds the costs of journals of dead processes that the file does not have, before any table is filled. Returns
   * whether the file has them then.
   */
  settle(journals: readonly DeadJournal[], settling: SettlingJournals): boolean {
    this.#settling = settling
    const before = this.#lines
    this.#lines = new Map(journals.map(({ key }) => [key, before.get(key) ?? 0]))
    for (const { key, settled } of journals) {
      for (const { line, settlements } of settled) {
        if (line <= (before.get(key) ?? 0)) continue
        for (const each of settlements) if (each.kind === 'memory') addCost(this.#saved, each)
        this.#lines.set(key, Math.max(this.#lines.get(key) ?? 0, line))
      }
    }
    return journals.length === 0 || this.#write()
  }

  /** Begins to write the file; `tables` are those of the live config. */
  start(tables: () => TableSet): void {
    this.#timer = setInterval(() => this.save(tables()), SAVE_MS).unref()
  }

  /** Writes the file for the last time. */
  close(tables: TableSet): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.save(tables)
    fs.rmSync(this.#lock, { force: true })
  }

  /** Writes the file. */
  save(tables: TableSet): void {
    const journals = this.#settling?.journals ?? NO_JOURNALS
    const lines = this.#read(tables, [...journals.values()])
    if (lines === null) return
    for (const [index, key] of [...journals.keys()].entries()) {
      const line = lines[index] ?? 0
      if (line > 0) this.#lines.set(key, line)
    }
    if (!this.#write()) return
    for (const [index, control] of [...journals.values()].entries()) control.saved = lines[index] ?? 0
    this.#settling?.budgetsSaved()
  }

  /**
   * Reads all tables between the calls of workers; returns the last line of each journal whose cost they have, or null
   * when a worker takes too long. While workers change amounts, they wait for a copy of the tables.
   */
  #read(tables: TableSet, controls: readonly JournalControl[]): number[] | null {
    const own = [...tables].filter(([id]) => isBudgetTable(id))
    const before = controls.map(({ turn }) => turn)
    const isQuiet = (turns: readonly (number | null)[]): boolean =>
      controls.every(({ turn }, index) => turn !== null && turn === turns[index])
    // A copy costs less than a read that has to be repeated.
    if (isQuiet(this.#turns)) this.#needsCopies = false
    let read: (readonly [string, SavedTable])[] = []
    let lines = controls.map(({ settled }) => settled)
    if (!this.#needsCopies) {
      read = own.map(([id, buffer]) => [id, this.#saveTable(id, buffer)] as const)
      this.#needsCopies = !isQuiet(before)
    }
    if (this.#needsCopies) {
      try {
        if (!controls.map((control) => control.pause()).every(Boolean)) return null
        lines = controls.map(({ settled }) => settled)
        for (const [id, buffer] of own) copyInto(this.#copyOf(id, buffer), buffer)
      } finally {
        for (const control of controls) control.resume()
      }
      read = own.map(([id, buffer]) => [id, this.#saveTable(id, this.#copyOf(id, buffer))] as const)
    }
    this.#turns = before
    for (const [id, saved] of read) this.#saved.set(id, saved)
    return lines
  }

  #copyOf(id: string, { byteLength }: SharedArrayBuffer): SharedArrayBuffer {
    const known = this.#copies.get(id)
    if (known?.byteLength === byteLength) return known
    const copy = new SharedArrayBuffer(byteLength)
    this.#copies.set(id, copy)
    return copy
  }

  /** Returns whether the file has everything. */
  #write(): boolean {
    const journals = this.#lines.size === 0 ? {} : { journals: Object.fromEntries(this.#lines) }
    const text = JSON.stringify({ version: VERSION, tables: Object.fromEntries(this.#saved), ...journals })
    if (text === this.#written) return true
    try {
      fs.writeFileSync(`${this.#file}.new`, text, { mode: 0o600, flush: true })
      fs.renameSync(`${this.#file}.new`, this.#file)
      this.#written = text
      return true
    } catch (error) {
      this.#warn(error as Error)
      return false
    }
  }

  #saveTable(id: string, buffer: SharedArrayBuffer): SavedTable {
    if (isPartTable(id)) return new PartTable(buffer).save()
    const known = this.#known.get(buffer) ?? new Map<number, KnownSlot>()
    this.#known.set(buffer, known)
    return new SpendTable(buffer, Math.random).save(known)
  }

  /** Budgets continue in memory while the file cannot be written. */
  #warn({ message }: Error): void {
    const now = performance.now()
    if (now - this.#warnedAt < WARN_MS) return
    this.#warnedAt = now
    this.#log.warn('budgets could not be saved', { file: this.#file, error: message })
  }
}

function readSaved(file: string): SavedBudgets | string {
  if (!fs.existsSync(file)) return { version: VERSION, tables: {} }
  let saved: Partial<SavedBudgets> | null
  try {
    saved = JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<SavedBudgets> | null
  } catch (error) {
    return `${file} cannot be read: ${(error as Error).message}`
  }
  const { version, tables, journals = {} } = saved ?? {}
  if (version !== VERSION) return `${file} has version ${String(version)}, and this program knows version ${VERSION}`
  return tables === undefined ? `${file} has no tables` : { version, tables, journals }
}

/** The number of the process that uses the folder; null when none does. */
function otherOwner(lock: string): number | null {
  if (!fs.existsSync(lock)) return null
  const owner = Number.parseInt(fs.readFileSync(lock, 'utf8'), 10)
  // In a container the number of the process is always the same.
  if (!(owner > 0) || owner === process.pid) return null
  try {
    process.kill(owner, 0)
    return owner
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? owner : null
  }
}

function copyInto(copy: SharedArrayBuffer, table: SharedArrayBuffer): void {
  new Uint8Array(copy).set(new Uint8Array(table))
}

function isBudgetTable(id: string): boolean {
  return id.includes('/budget/')
}

const NO_JOURNALS: ReadonlyMap<string, JournalControl> = new Map()
const VERSION = 1
const FILE = 'budgets.json'
const LOCK = 'budgets.lock'
const SAVE_MS = 1_000
const WARN_MS = 60_000
