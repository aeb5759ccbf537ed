import { hash } from 'node:crypto'
import { amountOf, MOST_AMOUNT, PERIOD_MASK, periodOf, SET_BACK, wordOf } from './spend-word.ts'

/**
 * Amounts that many threads spend from budgets, by key, in shared memory without locks. Each key has a slot of two words:
 *
 *     owner   hash of the key; 0 while the slot is free. Written once: a key keeps its slot.
 *     state   the low 14 bits of the period, and 50 bits for the amount that is spent or reserved in the period
 *
 * One compare-and-swap changes the amount and the period together, so two threads never pass the same limit check. A
 * reservation also has a lease, three words: its id with the end of the lease, the slot, and the reserved amount. When a
 * thread dies, its leases end, and the next request that finds no room takes the reserved amounts back.
 */
export class SpendTable {
  readonly #words: BigUint64Array<SharedArrayBuffer>
  readonly #slots: number
  readonly #salt: string
  readonly #random: () => number

  constructor(buffer: SharedArrayBuffer, random: () => number) {
    const bytes = buffer.byteLength - SALT_BYTES
    this.#words = new BigUint64Array(buffer, 0, bytes / 8)
    this.#salt = Buffer.from(new Uint8Array(buffer, bytes, SALT_BYTES)).toString('hex')
    this.#slots = Math.floor((this.#words.length - LEASES * LEASE_WORDS) / 2)
    this.#random = random
  }

  /**
   * The size of the memory for `keys` keys, for `KeyedTables`, whose memory has three words or more for each unit of size
   * and a salt at its end. Half of the slots stay free, so that probes are short.
   */
  static size(keys: number): number {
    return Math.ceil((keys * 2 * 2 + LEASES * LEASE_WORDS) / 3)
  }

  /** The number of slots in the table. */
  get slots(): number {
    return this.#slots
  }

  /** The slot of a key; null when the table has no room for another key. */
  slot(key: string): number | null {
    const digest = hash('sha256', this.#salt + key, 'buffer')
    const owner = digest.readBigUInt64LE(0) | 1n
    const first = digest.readUInt32LE(8)
    for (let probe = 0; probe < Math.min(PROBES, this.#slots); probe++) {
      const slot = (first + probe) % this.#slots
      const at = this.#slotAt(slot)
      let found = Atomics.load(this.#words, at)
      // Every thread tries the same slots in the same order, so a key gets one slot.
      if (found === FREE) found = Atomics.compareExchange(this.#words, at, FREE, owner)
      if (found === FREE || found === owner) return slot
    }
    return null
  }

  /** The amount of the slot in a period. */
  amount(slot: number, period: number): number {
    return amountOf(this.#at(Atomics.load(this.#words, this.#slotAt(slot) + 1), period))
  }

  /** Adds `amount` unless the sum is more than `limit`; returns the period that it counts in, or null. */
  take(slot: number, period: number, amount: number, limit: number): number | null {
    const at = this.#slotAt(slot) + 1
    for (;;) {
      const before = Atomics.load(this.#words, at)
      const current = this.#at(before, period)
      const sum = amountOf(current) + amount
      if (sum > limit) return null
      if (this.#swap(at, before, wordOf(periodOf(current), sum))) return periodOf(current)
    }
  }

  /** Adds `more` to a period that `take` returned, unless the sum is more than `limit`; true when the period is over. */
  grow(slot: number, period: number, more: number, limit: number): boolean {
    const at = this.#slotAt(slot) + 1
    for (;;) {
      const before = Atomics.load(this.#words, at)
      if (periodOf(before) !== period) return true
      const sum = amountOf(before) + more
      if (sum > limit) return false
      if (this.#swap(at, before, wordOf(period, sum))) return true
    }
  }

  /** Changes the amount of the period by `difference`. A period that is over stays as it is. */
  change(slot: number, period: number, difference: number): void {
    const at = this.#slotAt(slot) + 1
    for (;;) {
      const before = Atomics.load(this.#words, at)
      if (periodOf(before) !== (period & PERIOD_MASK)) return
      const after = Math.min(Math.max(0, amountOf(before) + difference), MOST_AMOUNT)
      if (this.#swap(at, before, wordOf(period, after))) return
    }
  }

  /** Adds an amount that is spent already, even beyond the limit; returns the period that it counts in. */
  charge(slot: number, period: number, amount: number): number {
    const taken = this.take(slot, period, 0, Infinity) ?? period
    this.change(slot, taken, amount)
    return taken
  }

  /** The hash of the key of a slot, a decimal text. */
  owner(slot: number): string {
    return String(Atomics.load(this.#words, this.#slotAt(slot)))
  }

  /** Opens a lease for an amount that `keep` tells; null when all leases are in use. */
  open(until: number): Lease | null {
    const start = Math.floor(this.#random() * LEASES)
    for (let probe = 0; probe < LEASES; probe++) {
      const at = this.#leaseAt((start + probe) % LEASES)
      if (Atomics.load(this.#words, at) !== FREE) continue
      const id = this.#leaseId(until)
      if (this.#swap(at, FREE, id)) return { at, id }
    }
    return null
  }

  /** Records what the lease holds. */
  keep({ at }: Lease, slot: number, period: number, amount: number): void {
    Atomics.store(this.#words, at + 1, BigInt(slot))
    Atomics.store(this.#words, at + 2, wordOf(period, amount))
  }

  /** Moves the end of the lease; false when the lease had run out and its amount was taken back. */
  renew(lease: Lease, until: number): boolean {
    const id = this.#leaseId(until)
    const isHeld = this.#swap(lease.at, lease.id, id)
    if (isHeld) lease.id = id
    return isHeld
  }

  /** Ends the lease; false when the lease had run out and its amount was taken back. */
  close({ at, id }: Lease): boolean {
    if (!this.#swap(at, id, CLOSING)) return false
    this.#free(at)
    return true
  }

  /** Takes back the amounts of leases that have run out; returns their number. */
  sweep(now: number): number {
    let count = 0
    for (let lease = 0; lease < LEASES; lease++) {
      const at = this.#leaseAt(lease)
      const id = Atomics.load(this.#words, at)
      if (id <= CLOSING || Number(id >> TAG_BITS) > now || !this.#swap(at, id, CLOSING)) continue
      const held = Atomics.load(this.#words, at + 2)
      this.change(Number(Atomics.load(this.#words, at + 1)), periodOf(held), -amountOf(held))
      this.#free(at)
      count += 1
    }
    return count
  }

  /**
   * Returns the spent amounts, without reserved amounts, as plain data. Writing big integers as text is slow, so
   * `known` caches the texts of the slots for the next call.
   */
  save(known: Map<number, KnownSlot> = new Map()): SavedSpending {
    const used: number[] = []
    const words: bigint[] = []
    // Slots are read as 32-bit halves first, because most slots are free, and reading a big integer for each slot would
    // dominate the cost.
    const halves = new Uint32Array(this.#words.buffer, 0, this.#words.length * 2)
    for (let slot = 0; slot < this.#slots; slot++) {
      const at = (this.#slotAt(slot) + 1) * 2
      if (halves[at] === 0 && halves[at + 1] === 0) continue
      used.push(slot)
      words.push(Atomics.load(this.#words, this.#slotAt(slot) + 1))
    }
    // Leases are read last: a call that ends in between counts as reserved, which is too much rather than too little.
    const held = this.#heldBySlot()
    const slots: SavedSlot[] = []
    for (let index = 0; index < used.length; index++) {
      const [slot = 0, word = 0n] = [used[index], words[index]]
      const leases = held.get(slot)
      const last = known.get(slot)
      if (leases === undefined && last?.word === word) {
        slots.push(last.saved)
        continue
      }
      if (amountOf(word) === 0) continue
      const owner = last?.saved[1] ?? String(Atomics.load(this.#words, this.#slotAt(slot)))
      const saved: SavedSlot = [slot, owner, String(leases === undefined ? word : withoutLeases(word, leases))]
      slots.push(saved)
      if (leases === undefined) known.set(slot, { word, saved })
    }
    return { salt: this.#salt, slots }
  }

  /** Returns the reserved amounts by slot, each as a word with its period. */
  #heldBySlot(): Map<number, bigint[]> {
    const held = new Map<number, bigint[]>()
    for (let lease = 0; lease < LEASES; lease++) {
      const at = this.#leaseAt(lease)
      if (Atomics.load(this.#words, at) <= CLOSING) continue
      const [slot, word] = [Number(Atomics.load(this.#words, at + 1)), Atomics.load(this.#words, at + 2)]
      const others = held.get(slot)
      if (others === undefined) held.set(slot, [word])
      else others.push(word)
    }
    return held
  }

  /** Adds a cost to saved amounts, as `charge` does in memory. */
  static addSaved({ salt, slots }: SavedSpending, { slot, owner, period, amount }: SavedCost): SavedSpending {
    const at = slots.findIndex(([number]) => number === slot)
    const [, known = owner, state = '0'] = slots[at] ?? []
    // The slot of another key, of a table that was created anew.
    if (known !== owner) return { salt, slots }
    const word = BigInt(state)
    const ahead = (periodOf(word) - period) & PERIOD_MASK
    // The period is over.
    if (word !== 0n && ahead > 0 && ahead <= SET_BACK) return { salt, slots }
    const before = word !== 0n && ahead === 0 ? amountOf(word) : 0
    const sum = Math.min(Math.max(0, before + amount), MOST_AMOUNT)
    const saved: SavedSlot = [slot, owner, String(wordOf(period, sum))]
    return { salt, slots: at === -1 ? [...slots, saved] : slots.with(at, saved) }
  }

  /** Fills new memory with amounts that `save` returned; called before any thread uses the memory. */
  static restore(buffer: SharedArrayBuffer, { salt, slots }: SavedSpending): void {
    new Uint8Array(buffer, buffer.byteLength - SALT_BYTES, SALT_BYTES).set(Buffer.from(salt, 'hex'))
    const table = new SpendTable(buffer, Math.random)
    for (const [slot, owner, state] of slots) {
      if (slot >= table.#slots) continue
      table.#words[table.#slotAt(slot)] = BigInt(owner)
      table.#words[table.#slotAt(slot) + 1] = BigInt(state)
    }
  }

  #free(at: number): void {
    // The next owner must not find an old amount.
    Atomics.store(this.#words, at + 2, 0n)
    Atomics.store(this.#words, at, FREE)
  }

  /** The state for the current period: a word of an older period counts as an empty one. */
  #at(word: bigint, period: number): bigint {
    const ahead = (periodOf(word) - period) & PERIOD_MASK
    // A clock that was set back must not begin a period for the second time.
    return word !== 0n && ahead <= SET_BACK ? word : wordOf(period, 0)
  }

  #leaseId(until: number): bigint {
    // The tag is random, so that two owners of a lease never have the same id; 0 and 1 have other meanings.
    return (BigInt(Math.ceil(until)) << TAG_BITS) | BigInt(2 + Math.floor(this.#random() * (2 ** 20 - 2)))
  }

  #slotAt(slot: number): number {
    return LEASES * LEASE_WORDS + slot * 2
  }

  #leaseAt(lease: number): number {
    return lease * LEASE_WORDS
  }

  #swap(at: number, before: bigint, after: bigint): boolean {
    return Atomics.compareExchange(this.#words, at, before, after) === before
  }
}

/** The amounts of a table as JSON; words are decimal texts. */
export interface SavedSpending {
  readonly salt: string
  readonly slots: readonly SavedSlot[]
}

type SavedSlot = readonly [slot: number, owner: string, state: string]

/** The cost of a call in a slot. */
interface SavedCost {
  readonly slot: number
  readonly owner: string
  readonly period: number
  readonly amount: number
}

/** A slot of a table, in the form of a save file. */
export interface KnownSlot {
  readonly word: bigint
  readonly saved: SavedSlot
}

/** Returns the word of a slot without its reserved amounts. */
function withoutLeases(word: bigint, leases: readonly bigint[]): bigint {
  const period = periodOf(word)
  const held = leases.reduce((sum, lease) => sum + (periodOf(lease) === period ? amountOf(lease) : 0), 0)
  return wordOf(period, Math.max(0, amountOf(word) - held))
}

/** A reservation in the table. The id changes whenever the lease is renewed. */
export interface Lease {
  readonly at: number
  id: bigint
}

const FREE = 0n
/** The lease is about to be free. A thread that dies now loses the lease, and no amount. */
const CLOSING = 1n
const LEASES = 4_096
const LEASE_WORDS = 3
const PROBES = 128
const SALT_BYTES = 16
const TAG_BITS = 20n
