/**
 * Keys, teams and prices in shared memory: one thread writes, all workers read, without locks. The words of the header:
 *
 *     state    of the store: LOADING, OPEN or FAILED
 *     teams    counts the changes of teams
 *     slots    the number of slots
 *     prices   counts the changes of prices
 *     loaded   1 while all prices are loaded
 *
 * A key is found by the SHA-256 of its text, in open addressing. A slot has 12 words:
 *
 *     hash (8) | version | first block of the details | bytes of the details | kind
 *
 * The version is odd while the writer changes the slot, and never has the same value twice. The details are text of ASCII in
 * blocks of 16 bytes behind the slots. The writer uses the blocks of old details again only after the version has changed,
 * so a reader that finds the same version before and after it has read has not read the details of another key.
 */

export const LOADING = 0
export const OPEN = 1
export const FAILED = 2

/** The kinds of slots. A slot whose entry was removed may be in the way of searches that go on behind it. */
export const FREE = 0
export const KEY = 1
export const TEAM = 2
export const REMOVED = 3
export const PRICE = 4

export type EntryKind = typeof KEY | typeof TEAM | typeof PRICE

export const STATE = 0
export const TEAMS = 1
const SLOTS = 2
export const PRICES = 3
export const PRICES_LOADED = 4
const HEADER_WORDS = 16
const SLOT_WORDS = 12
export const HASH_WORDS = 8
export const VERSION = 8
export const BLOCK = 9
export const LENGTH = 10
export const KIND = 11
export const BLOCK_BYTES = 16

/** Creates the memory for so many keys, teams and prices. The operating system allocates only the pages that are used. */
export function createKeyTable(entries: number): SharedArrayBuffer {
  const slots = Math.ceil(entries * SLOTS_PER_ENTRY) + SPARE_SLOTS
  const bytes = (HEADER_WORDS + slots * SLOT_WORDS) * 4
  const buffer = new SharedArrayBuffer(aligned(bytes) + entries * DETAIL_BYTES + SPARE_BYTES)
  new Int32Array(buffer)[SLOTS] = slots
  return buffer
}

/** The views of the memory. */
export interface KeyMemory {
  readonly words: Int32Array<SharedArrayBuffer>
  readonly slots: number
  /** The blocks of details. */
  readonly blocks: Uint8Array<SharedArrayBuffer>
}

export function viewKeyTable(buffer: SharedArrayBuffer): KeyMemory {
  const slots = new Int32Array(buffer, 0, HEADER_WORDS)[SLOTS] ?? 0
  const words = new Int32Array(buffer, 0, HEADER_WORDS + slots * SLOT_WORDS)
  return { words, slots, blocks: new Uint8Array(buffer, aligned(words.byteLength)) }
}

export function slotAt(slot: number): number {
  return HEADER_WORDS + slot * SLOT_WORDS
}

export function hasHash(words: Int32Array, at: number, digest: Buffer): boolean {
  for (let word = 0; word < HASH_WORDS; word++) {
    if (words[at + word] !== digest.readInt32LE(word * 4)) return false
  }
  return true
}

/** The slot at which the search for a digest begins. */
export function firstSlot(digest: Buffer, slots: number): number {
  return digest.readUInt32LE(0) % slots
}

/** An entry as a worker finds it. `slot` and `version` together name exactly one state of one entry. */
export interface FoundEntry {
  readonly slot: number
  readonly version: number
}

/** The table as workers read it. */
export class KeyTable {
  readonly #memory: KeyMemory
  /** The memory of the blocks, as a `Buffer`. */
  readonly #texts: Buffer

  constructor(buffer: SharedArrayBuffer) {
    this.#memory = viewKeyTable(buffer)
    const { byteOffset, byteLength } = this.#memory.blocks
    this.#texts = Buffer.from(buffer, byteOffset, byteLength)
  }

  get state(): number {
    return Atomics.load(this.#memory.words, STATE)
  }

  /** Changes whenever a team does. */
  get teams(): number {
    return Atomics.load(this.#memory.words, TEAMS)
  }

  /** The number of price changes; workers read the prices again when the number changes. */
  get prices(): number {
    return Atomics.load(this.#memory.words, PRICES)
  }

  /** Whether all prices are loaded. */
  get hasPrices(): boolean {
    return Atomics.load(this.#memory.words, PRICES_LOADED) === 1
  }

  /** Finds the entry with this digest; null when there is none. */
  find(kind: EntryKind, digest: Buffer): FoundEntry | null {
    const { words, slots } = this.#memory
    const first = firstSlot(digest, slots)
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = (first + probe) % slots
      const at = slotAt(slot)
      // A slot whose writer died stays as it is until the next writer starts; until then, its key is unknown.
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const version = Atomics.load(words, at + VERSION)
        const found = Atomics.load(words, at + KIND)
        if (found === FREE && (version & 1) === 0) return null
        const isSame = found === kind && hasHash(words, at, digest)
        // Nearly all other slots on the way are ruled out by their first word.
        if (!isSame && (version & 1) === 0) break
        if (isSame && this.#isCurrent(at, version)) return { slot, version }
        pause(tries)
      }
    }
    return null
  }

  /**
   * Reads the details of all entries of a kind. The search visits every slot, so only kinds that hardly ever change use
   * it.
   */
  all(kind: EntryKind): string[] {
    const { words, slots } = this.#memory
    const texts: string[] = []
    for (let slot = 0; slot < slots; slot++) {
      const at = slotAt(slot)
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const version = Atomics.load(words, at + VERSION)
        if ((version & 1) === 0 && Atomics.load(words, at + KIND) !== kind) break
        const text = this.read({ slot, version })
        if (text !== null) {
          texts.push(text)
          break
        }
        pause(tries)
      }
    }
    return texts
  }

  /** The details of the entry; null when it has changed since it was found. */
  read({ slot, version }: FoundEntry): string | null {
    const { words } = this.#memory
    const at = slotAt(slot)
    const start = (words[at + BLOCK] ?? 0) * BLOCK_BYTES
    // The writer may change the bytes meanwhile; a UTF-8 decoder would read them twice, and may find two lengths.
    const text = this.#texts.toString('latin1', start, start + (words[at + LENGTH] ?? 0))
    return this.#isCurrent(at, version) ? text : null
  }

  /** Whether nothing was written since `version` was read. The write orders the reads before it. */
  #isCurrent(at: number, version: number): boolean {
    return (version & 1) === 0 && Atomics.or(this.#memory.words, at + VERSION, 0) === version
  }
}

/** Waits for the writer, which hardly ever takes longer than a few tries. */
function pause(tries: number): void {
  if (tries > SPINS) Atomics.wait(NOBODY, 0, 0, 1)
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES
}

/** At this density, a search for an entry that is there takes less than two probes on average. */
const SLOTS_PER_ENTRY = 1.6
const SPARE_SLOTS = 64
/** Memory for details that is reserved for each entry. Most keys need less than half of it. */
const DETAIL_BYTES = 256
const SPARE_BYTES = 1024 * 1024
/** The longest search. In a full table, one entry in a billion would need a longer one. */
export const PROBES = 512
const MOST_TRIES = 150
const SPINS = 100
/** Nobody notifies this word: `Atomics.wait` on it sleeps until its timeout. */
const NOBODY = new Int32Array(new SharedArrayBuffer(4))
