import {
  BLOCK,
  BLOCK_BYTES,
  type EntryKind,
  firstSlot,
  FREE,
  HASH_WORDS,
  hasHash,
  type KeyMemory,
  KIND,
  LENGTH,
  PRICES,
  PRICES_LOADED,
  PROBES,
  REMOVED,
  slotAt,
  STATE,
  TEAMS,
  VERSION,
  viewKeyTable,
} from './key-table.ts'

/** The table as its only writer uses it. */
export class KeyTableWriter {
  readonly #memory: KeyMemory
  /** The most entries. */
  readonly #most: number
  #count = 0
  /** The first block that was never used. */
  #fresh = 0
  /** Runs of blocks that are free again, by their length in blocks. */
  readonly #freed = new Map<number, number[]>()

  /** Empties the table: an earlier writer may have left a change half done. */
  constructor(buffer: SharedArrayBuffer, most: number, state: number) {
    this.#memory = viewKeyTable(buffer)
    this.#most = most
    this.clear(state)
  }

  get count(): number {
    return this.#count
  }

  setState(state: number): void {
    Atomics.store(this.#memory.words, STATE, state)
  }

  /** Removes all entries. */
  clear(state: number): void {
    this.setState(state)
    Atomics.store(this.#memory.words, PRICES_LOADED, 0)
    Atomics.add(this.#memory.words, PRICES, 1)
    for (let slot = 0; slot < this.#memory.slots; slot++) {
      if (Atomics.load(this.#memory.words, slotAt(slot) + KIND) !== FREE) this.#empty(slot)
    }
    this.#count = 0
    this.#fresh = 0
    this.#freed.clear()
    this.teamsChanged()
  }

  /** Makes workers read the teams of a key again. */
  teamsChanged(): void {
    Atomics.add(this.#memory.words, TEAMS, 1)
  }

  /** Marks the prices as loaded and makes workers read them again. */
  pricesChanged(): void {
    Atomics.add(this.#memory.words, PRICES, 1)
    Atomics.store(this.#memory.words, PRICES_LOADED, 1)
  }

  /** Whether there is room for so many more entries with details of this length each. */
  hasRoom(entries: number, length: number): boolean {
    const blocks = blocksOf(length)
    const rest = Math.floor(this.#memory.blocks.length / BLOCK_BYTES) - this.#fresh
    const freed = this.#freed.get(blocks)?.length ?? 0
    return this.#count + entries <= this.#most && Math.floor(rest / blocks) + freed >= Math.max(1, entries)
  }

  /** Adds an entry, or replaces the details of an entry. `details` is ASCII. Returns false when the table has no room. */
  put(kind: EntryKind, hash: string, details: string): boolean {
    const { words, blocks } = this.#memory
    const digest = Buffer.from(hash, 'hex')
    const text = Buffer.from(details, 'latin1')
    const { found, usable } = this.#search(kind, digest)
    const slot = found ?? (this.#count < this.#most ? usable : null)
    const block = slot === null ? null : this.#allocate(blocksOf(text.length))
    if (slot === null || block === null) return false
    blocks.set(text, block * BLOCK_BYTES)
    const at = slotAt(slot)
    const old = found === null ? null : { block: words[at + BLOCK] ?? 0, length: words[at + LENGTH] ?? 0 }
    Atomics.add(words, at + VERSION, 1)
    for (let word = 0; word < HASH_WORDS; word++) Atomics.store(words, at + word, digest.readInt32LE(word * 4))
    Atomics.store(words, at + BLOCK, block)
    Atomics.store(words, at + LENGTH, text.length)
    Atomics.store(words, at + KIND, kind)
    Atomics.add(words, at + VERSION, 1)
    if (old === null) this.#count += 1
    else this.#free(old.block, old.length)
    return true
  }

  remove(kind: EntryKind, hash: string): void {
    const { words } = this.#memory
    const { found: slot } = this.#search(kind, Buffer.from(hash, 'hex'))
    if (slot === null) return
    const at = slotAt(slot)
    Atomics.add(words, at + VERSION, 1)
    Atomics.store(words, at + KIND, REMOVED)
    Atomics.add(words, at + VERSION, 1)
    this.#count -= 1
    this.#free(words[at + BLOCK] ?? 0, words[at + LENGTH] ?? 0)
    this.#shorten(slot)
  }

  /** Searches end at a free slot, so removed slots right before one are in nobody's way. */
  #shorten(last: number): void {
    const { words, slots } = this.#memory
    const kindOf = (slot: number): number => Atomics.load(words, slotAt(slot) + KIND)
    for (let slot = last; kindOf((slot + 1) % slots) === FREE && kindOf(slot) === REMOVED;) {
      this.#empty(slot)
      slot = (slot + slots - 1) % slots
    }
  }

  #empty(slot: number): void {
    const { words } = this.#memory
    const at = slotAt(slot) + VERSION
    // A writer that died may have left an odd version.
    Atomics.store(words, at, Atomics.load(words, at) | 1)
    Atomics.store(words, slotAt(slot) + KIND, FREE)
    Atomics.add(words, at, 1)
  }

  /** The slot of the entry, and the first slot that a new entry may use. */
  #search(kind: EntryKind, digest: Buffer): { found: number | null; usable: number | null } {
    const { words, slots } = this.#memory
    const first = firstSlot(digest, slots)
    let usable: number | null = null
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = (first + probe) % slots
      const at = slotAt(slot)
      const found = words[at + KIND]
      if (found === FREE) return { found: null, usable: usable ?? slot }
      if (found === REMOVED) usable ??= slot
      else if (found === kind && hasHash(words, at, digest)) return { found: slot, usable }
    }
    return { found: null, usable }
  }

  #allocate(blocks: number): number | null {
    const freed = this.#freed.get(blocks)?.pop()
    if (freed !== undefined) return freed
    const block = this.#fresh
    if ((block + blocks) * BLOCK_BYTES > this.#memory.blocks.length) return null
    this.#fresh += blocks
    return block
  }

  #free(block: number, length: number): void {
    const blocks = blocksOf(length)
    const known = this.#freed.get(blocks)
    if (known === undefined) this.#freed.set(blocks, [block])
    else known.push(block)
  }
}

function blocksOf(length: number): number {
  return Math.max(1, Math.ceil(length / BLOCK_BYTES))
}
