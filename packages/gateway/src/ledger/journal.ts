import * as fs from 'node:fs'
import type { JournalControl } from './journal-control.ts'
import { type JournalHalf, type JournalName, journalPath, MOST_JOURNAL_BYTES } from './journal-files.ts'

/** Costs that a worker sends to a server of budgets. */
export interface SentCosts {
  /** Returns a mark of the costs so far. */
  mark(): number
  /** Whether the server has all costs up to the mark. */
  has(mark: number): boolean
}

/** The journal as the feed of a worker uses it. */
export type WorkerJournal = Pick<Journal, 'append' | 'posted' | 'tidy' | 'close' | 'control'>

interface JournalParts {
  readonly folder: string
  readonly name: JournalName
  readonly control: JournalControl
  /** Null without budgets in a server. */
  readonly sent: SentCosts | null
  /** Milliseconds of a monotonic clock. */
  now(): number
  /** Called for each line that is not written. */
  missed(): void
  /** Called when the files cannot be written, at most once a second. */
  failed(error: Error): void
}

/**
 * The journal of one worker: a line for each entry, written before the client gets the end of its response, so that the
 * entry survives the death of the process. It is in two files. While the lines of one wait to be stored, the other one
 * takes new lines; a file whose lines are all stored is emptied.
 */
export class Journal {
  readonly control: JournalControl
  readonly #parts: JournalParts
  readonly #halves: readonly [Half, Half]
  #current: Half
  #pausedUntil = -Infinity

  constructor(parts: JournalParts) {
    this.#parts = parts
    this.control = parts.control
    const half = (name: JournalHalf) => new Half(journalPath(parts.folder, parts.name, name))
    this.#halves = [half('a'), half('b')]
    this.#current = this.#halves[0]
  }

  /** Writes a line; returns false when that failed, so that the entry is in memory only. */
  append(line: string): boolean {
    try {
      if (this.#pausedUntil !== -Infinity && this.#parts.now() < this.#pausedUntil) return this.#miss()
      const [a, b] = this.#halves
      this.#current.append(line, MOST_JOURNAL_BYTES - a.size - b.size)
      this.#pausedUntil = -Infinity
      return true
    } catch (error) {
      this.#fail(error)
      return this.#miss()
    }
  }

  #miss(): false {
    this.#parts.missed()
    return false
  }

  /** Called when all lines so far were posted to the main thread, with the number of the last batch. */
  posted(batch: number): void {
    const { control, sent } = this.#parts
    this.#current.posted = { batch, settled: control.settled, mark: sent?.mark() ?? 0 }
    this.tidy()
  }

  /** Empties files whose lines are all stored; returns whether lines are left. */
  tidy(): boolean {
    try {
      for (const half of this.#halves) if (this.#isStored(half)) half.empty()
    } catch (error) {
      this.#fail(error)
    }
    const other = this.#halves[this.#current === this.#halves[0] ? 1 : 0]
    if (this.#current.posted !== null && this.#current.size >= TURN_BYTES && other.size === 0) this.#current = other
    return this.#halves.some(({ size }) => size > 0)
  }

  /** Closes the files. The main thread removes them when everything is stored. */
  close(): void {
    for (const half of this.#halves) half.close()
  }

  #isStored({ size, posted }: Half): boolean {
    if (size === 0 || posted === null) return false
    const { control, sent } = this.#parts
    return (
      control.confirmed >= posted.batch && control.saved >= posted.settled && (sent === null || sent.has(posted.mark))
    )
  }

  /** A disk that is full or broken is not tried for every call. */
  #fail(error: unknown): void {
    this.#pausedUntil = this.#parts.now() + RETRY_MS
    this.#parts.failed(error instanceof Error ? error : new Error(String(error)))
  }
}

/** The batch and the costs that must be stored before a file may be emptied. */
interface PostedLines {
  readonly batch: number
  readonly settled: number
  readonly mark: number
}

class Half {
  size = 0
  /** Null while there are lines that were not posted to the main thread. */
  posted: PostedLines | null = null
  readonly #path: string
  #fd: number | null = null

  constructor(path: string) {
    this.#path = path
  }

  append(line: string, room: number): void {
    const length = Buffer.byteLength(line)
    if (length > room) throw new Error(`the journal is full, because its entries are not stored`)
    this.#fd ??= fs.openSync(this.#path, CREATE, 0o600)
    let written = 0
    try {
      written = fs.writeSync(this.#fd, line)
      if (written !== length) throw new Error('the disk took a part of a line')
    } catch (error) {
      this.#cut()
      throw error
    }
    this.size += written
    this.posted = null
  }

  empty(): void {
    if (this.#fd !== null) fs.ftruncateSync(this.#fd, 0)
    this.size = 0
  }

  close(): void {
    if (this.#fd !== null) fs.closeSync(this.#fd)
    this.#fd = null
  }

  /** Removes a part of a line. If that fails, the next line begins with a line feed, and readers skip the part. */
  #cut(): void {
    try {
      if (this.#fd !== null) fs.ftruncateSync(this.#fd, this.size)
    } catch {
      // The failure of the write is reported.
    }
  }
}

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants
const CREATE = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW
/** A file of this size takes no more lines once the other one is empty. */
const TURN_BYTES = 256 * 1024
const RETRY_MS = 1_000
