import { hash } from 'node:crypto'
import { systemRandom } from './system-random.ts'
import type { SharedCells, SharedCounters } from '@portico/http/client'

/**
 * A hash table in memory that all threads share: open addressing, no locks, no messages.
 *
 *     slot, 64 bytes: owner (hash of the key, 0 is free) | mark (minute of the last use) | six words
 *
 * One compare-and-swap on its owner claims a free slot, and a claimed slot never becomes free again: all threads that
 * look for a key probe the same slots in the same order, and a thread that dies while it probes leaves no partial state.
 * Only the main thread may hand a slot to another key (`reuse`), and only after a day without use.
 */
export class SharedTable implements SharedCounters {
  readonly #buffer: SharedArrayBuffer
  readonly #owners: BigInt64Array<SharedArrayBuffer>
  readonly #marks: Int32Array<SharedArrayBuffer>
  readonly #slots: number
  readonly #salt: string

  constructor(buffer: SharedArrayBuffer) {
    this.#buffer = buffer
    this.#owners = new BigInt64Array(buffer)
    this.#marks = new Int32Array(buffer)
    this.#slots = buffer.byteLength / SLOT_BYTES - 1
    this.#salt = Buffer.from(new Uint8Array(buffer, this.#slots * SLOT_BYTES, SALT_BYTES)).toString('hex')
  }

  get slots(): number {
    return this.#slots
  }

  cells(key: string): TableCells | null {
    const path = this.path(key)
    const slot = this.locate(path)
    return slot === null ? null : new TableCells(this, path, slot)
  }

  /** The probe sequence of a key. The hash is salted, so that nobody can choose names that collide. */
  path(key: string): Path {
    const digest = hash('sha256', this.#salt + key, 'buffer')
    const owner = digest.readBigInt64LE(0)
    return {
      owner: owner === FREE ? 1n : owner,
      first: digest.readUInt32LE(8),
      // An odd step reaches every slot of a table whose size is a power of two.
      step: (digest.readUInt32LE(12) | 1) >>> 0,
    }
  }

  /**
   * Returns the slot of the key and claims a free slot if the key has none; null when the probe sequence has neither.
   */
  locate(path: Path): number | null {
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = this.#slotAt(path, probe)
      const at = slot * SLOT_WORDS
      let owner = Atomics.load(this.#owners, at)
      if (owner === FREE) owner = Atomics.compareExchange(this.#owners, at, FREE, path.owner)
      if (owner === FREE || owner === path.owner) return slot
    }
    return null
  }

  /**
   * Marks the slot as used if it belongs to the key, and returns whether it does. A marked slot is not reused for the
   * next hours. The mark is written first, because the owner changes only while the mark is `CHANGING`.
   */
  touch(slot: number, path: Path, now: number): boolean {
    const at = slot * SLOT_MARKS + MARK
    const minute = minuteOf(now)
    for (;;) {
      const mark = Atomics.load(this.#marks, at)
      if (mark === CHANGING) return false
      if (mark >= minute || Atomics.compareExchange(this.#marks, at, mark, minute) === mark) break
    }
    return Atomics.load(this.#owners, slot * SLOT_WORDS) === path.owner
  }

  /** Gives the key a slot that was unused for a day. Only the main thread may call it: its death ends the process. */
  reuse(path: Path, now: number, isKept: (slot: number) => boolean): number | null {
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const slot = this.#slotAt(path, probe)
      if (isKept(slot)) continue
      const at = slot * SLOT_MARKS + MARK
      const mark = Atomics.load(this.#marks, at)
      const minute = minuteOf(now)
      // The slot is claimed and not yet used: its day begins now.
      if (mark === 0) Atomics.compareExchange(this.#marks, at, 0, minute)
      if (mark === 0 || minute - mark < IDLE_MINUTES) continue
      if (Atomics.compareExchange(this.#marks, at, mark, CHANGING) !== mark) continue
      const words = this.words(slot)
      for (let word = 0; word < words.length; word++) Atomics.store(words, word, 0n)
      Atomics.store(this.#owners, slot * SLOT_WORDS, path.owner)
      Atomics.store(this.#marks, at, minute)
      return slot
    }
    return null
  }

  words(slot: number): BigInt64Array<SharedArrayBuffer> {
    return new BigInt64Array(this.#buffer, (slot * SLOT_WORDS + FIRST_WORD) * 8, SLOT_WORDS - FIRST_WORD)
  }

  #slotAt({ first, step }: Path, probe: number): number {
    return (first + probe * step) % this.#slots
  }
}

/** One thread's view of the words of a key. */
export class TableCells implements SharedCells {
  readonly #table: SharedTable
  readonly #path: Path
  #slot: number
  #words: BigInt64Array<SharedArrayBuffer>

  constructor(table: SharedTable, path: Path, slot: number) {
    this.#table = table
    this.#path = path
    this.#slot = slot
    this.#words = table.words(slot)
  }

  get slot(): number {
    return this.#slot
  }

  use(now: number): BigInt64Array<SharedArrayBuffer> {
    while (!this.#table.touch(this.#slot, this.#path, now)) this.#move()
    return this.#words
  }

  /** Finds the key's slot again after its old slot, unused for a day, went to another key. */
  #move(): void {
    const slot = this.#table.locate(this.#path)
    if (slot === null) throw new Error('the table of shared counters is full')
    this.#slot = slot
    this.#words = this.#table.words(slot)
  }
}

/** Created once per process by the main thread. The operating system allocates only the pages that are touched. */
export function createTable(slots = 65_536): SharedArrayBuffer {
  if (!Number.isInteger(Math.log2(slots))) throw new RangeError('the size of a table is a power of two')
  // One more slot behind the last holds the salt.
  const buffer = new SharedArrayBuffer((slots + 1) * SLOT_BYTES)
  new Uint8Array(buffer, slots * SLOT_BYTES, SALT_BYTES).set(systemRandom(SALT_BYTES))
  return buffer
}

/** The probe sequence of a key. */
interface Path {
  owner: bigint
  first: number
  step: number
}

const SLOT_BYTES = 64
const SLOT_WORDS = SLOT_BYTES / 8
const SLOT_MARKS = SLOT_BYTES / 4
const SALT_BYTES = 16
/** Index in words of 64 bits. */
const FIRST_WORD = 2
/** Index in words of 32 bits. */
const MARK = 2
const FREE = 0n
const CHANGING = -1
/** When nine of ten slots are in use, one key in a million finds no free slot in this many probes. */
const MAX_PROBES = 128
const IDLE_MINUTES = 24 * 60

/** Never 0, because a mark of 0 means "not used yet". */
function minuteOf(now: number): number {
  return Math.floor(now / 60_000) + 1
}
