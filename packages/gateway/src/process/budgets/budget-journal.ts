import * as fs from 'node:fs'
import { join } from 'node:path'
import { isPartTable, PartTable, type SavedParts } from '../../state/part-table.ts'
import { type KnownSlot, type SavedSpending, SpendTable } from '../../state/spend-table.ts'
import type { TableSet } from '../../state/keyed-tables.ts'
import type { Logger } from '../../telemetry/log/logger.ts'

type SavedTable = SavedSpending | SavedParts

/** The contents of the file. */
interface SavedBudgets {
  readonly version: number
  readonly tables: Readonly<Record<string, SavedTable>>
}

/**
 * Keeps the amounts that budgets have spent in a file, so that a restart does not begin them anew. The file is written
 * every second, if something was spent, and when the gateway ends. Calls that were under way when a process was killed are
 * not in the file.
 */
export class BudgetJournal {
  readonly #file: string
  readonly #lock: string
  readonly #log: Logger
  /** The tables of the file, also those that the live config does not have: a config that has them again continues. */
  readonly #saved: Map<string, SavedTable>
  /** The slots of each table as they were at the last save. */
  readonly #known = new WeakMap<SharedArrayBuffer, Map<number, KnownSlot>>()
  #written = ''
  #timer: NodeJS.Timeout | null = null
  #warnedAt = -Infinity

  private constructor(folder: string, saved: SavedBudgets['tables'], log: Logger) {
    this.#file = join(folder, FILE)
    this.#lock = join(folder, LOCK)
    this.#saved = new Map(Object.entries(saved))
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
      return typeof saved === 'string' ? saved : new BudgetJournal(folder, saved.tables, log)
    } catch (error) {
      return `the state folder ${folder} cannot be used: ${(error as Error).message}`
    }
  }

  /** Fills a new table with what the file has of it. */
  fill(id: string, buffer: SharedArrayBuffer): void {
    const saved = this.#saved.get(id)
    if (saved === undefined) return
    if ('words' in saved) PartTable.restore(buffer, saved)
    else SpendTable.restore(buffer, saved)
  }

  /** Begins to write the file; `tables` are those of the live config. */
  start(tables: () => TableSet): void {
    this.#timer = setInterval(() => this.#save(tables()), SAVE_MS).unref()
  }

  /** Writes the file for the last time. */
  close(tables: TableSet): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#save(tables)
    fs.rmSync(this.#lock, { force: true })
  }

  #save(all: TableSet): void {
    for (const [id, buffer] of all) {
      if (isBudgetTable(id)) this.#saved.set(id, this.#saveTable(id, buffer))
    }
    const text = JSON.stringify({ version: VERSION, tables: Object.fromEntries(this.#saved) })
    if (text === this.#written) return
    try {
      fs.writeFileSync(`${this.#file}.new`, text, { mode: 0o600, flush: true })
      fs.renameSync(`${this.#file}.new`, this.#file)
      this.#written = text
    } catch (error) {
      this.#warn(error as Error)
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
  const { version, tables } = saved ?? {}
  if (version !== VERSION) return `${file} has version ${String(version)}, and this program knows version ${VERSION}`
  return tables === undefined ? `${file} has no tables` : { version, tables }
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

function isBudgetTable(id: string): boolean {
  return id.includes('/budget/')
}

const VERSION = 1
const FILE = 'budgets.json'
const LOCK = 'budgets.lock'
const SAVE_MS = 1_000
const WARN_MS = 60_000
