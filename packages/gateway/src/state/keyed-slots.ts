import { type BudgetRule, spentOf, windowOf, wordOf } from './budget-rule.ts'
import { monotonic } from './monotonic.ts'

/** The way to a key. */
export interface Path {
  /** Hash of the key, never 0. */
  owner: bigint
  /** Says the group, and the slot in it that is looked at first. */
  first: number
}

/** What a slot holds while it is the key's: as long as `word` has not changed, nothing of it has. */
export interface Tenancy {
  slot: number
  start: number
  word: bigint
}

/**
 * Slots for budgets by key, in groups of 64: a key lives in its group only, so that a look at 64 slots finds it, or
 * room for it. No locks: each word moves by compare-and-swap.
 *
 *   group:  64 owners (hash of the key, 0: never used) | 64 times start (as in `Budget`), spent (as in `BudgetRule`)
 *
 * A slot never becomes free again: a key claims the first free one on its way, so all threads claim the same. Only in a
 * group without free slots, a key gets the slot of another whose budget is full again, the one that is so for longest.
 * That goes in steps which others can see:
 *
 *   1. `spent` becomes a seal: a negative number, like no other. Who spends from the old budget fails, and looks anew.
 *   2. `owner` becomes the new key. Who looks for it waits for the seal to be gone.
 *   3. A look at the group: when two threads do this for one key in two slots, one sees the other, and gives up.
 *   4. `start` and `spent` become those of a full budget. Its windows count from a random number, so that no word of one
 *      tenancy is ever one of the next: a swap that was prepared before cannot succeed after.
 *
 * A thread that dies in between leaves a seal, which after a second counts as a slot to be had. One that was only slow
 * finds its words changed, because each step names what it replaces.
 */
export class KeyedSlots {
  readonly #words: BigInt64Array<SharedArrayBuffer>
  readonly #halves: Int32Array<SharedArrayBuffer>
  readonly #groups: number
  readonly #clock: () => number

  constructor(buffer: SharedArrayBuffer, clock = monotonic) {
    this.#groups = Math.floor(buffer.byteLength / GROUP_BYTES)
    this.#words = new BigInt64Array(buffer, 0, this.#groups * GROUP_WORDS)
    this.#halves = new Int32Array(buffer, 0, this.#groups * GROUP_WORDS * 2)
    this.#clock = clock
  }

  /** Twice as many slots as keys: with so many keys, not one group in a million is full. */
  static bytesFor(size: number): number {
    return Math.ceil((size * 2) / GROUP) * GROUP_BYTES
  }

  /** The slot of the key, given to it if it has none; null when all that it could have are of busy budgets. */
  enter(path: Path, rule: BudgetRule, now: number): Tenancy | null {
    for (let tries = 0; ; tries++) {
      const slot = this.#walk(path) ?? this.#replace(path, rule, now)
      if (slot === null) return null
      const tenancy = slot === AGAIN ? null : this.#read(slot, path, now)
      if (tenancy !== null) return tenancy
      if (slot !== AGAIN) this.#clear(slot, path, rule, now)
      pause(tries)
    }
  }

  /** Whether `word` was still what the slot holds. */
  swap(slot: number, word: bigint, next: bigint): boolean {
    const at = spentAt(slot)
    return Atomics.compareExchange(this.#words, at, word, next) === word
  }

  /** The slot with the key, or the first free one, claimed; null when there is neither. */
  #walk({ owner, first }: Path): number | null {
    const begin = this.#groupOf(first)
    const owners = ownerAt(begin)
    const half = halfOf(owner)
    const firstOfGroup = first % GROUP
    for (let probe = 0; probe < GROUP; probe++) {
      const index = (firstOfGroup + probe) & (GROUP - 1)
      // Half of the hash tells nearly all others apart, without a number on the heap for each.
      const seen = Atomics.load(this.#halves, (owners + index) * 2 + LOW)
      if (seen !== half && seen !== 0) continue
      let found = Atomics.load(this.#words, owners + index)
      if (found === FREE) found = Atomics.compareExchange(this.#words, owners + index, FREE, owner)
      if (found === FREE || found === owner) return begin + index
    }
    return null
  }

  #read(slot: number, { owner }: Path, now: number): Tenancy | null {
    const word = Atomics.load(this.#words, spentAt(slot))
    if (word < 0n) return null
    let start = Atomics.load(this.#words, startAt(slot))
    if (start === 0n) {
      const mine = BigInt(Math.floor(now) + 1)
      const before = Atomics.compareExchange(this.#words, startAt(slot), 0n, mine)
      start = before === 0n ? mine : before
    }
    const isSame =
      Atomics.load(this.#words, ownerAt(slot)) === owner && Atomics.load(this.#words, spentAt(slot)) === word
    return isSame ? { slot, start: Number(start) - 1, word } : null
  }

  /** Gives the key the slot of the oldest idle budget; null when none is idle. */
  #replace(path: Path, rule: BudgetRule, now: number): number | null {
    const begin = this.#groupOf(path.first)
    const idle = this.#oldestIdle(begin, rule, now)
    if (idle === null) return null
    const word = Atomics.load(this.#words, spentAt(idle))
    const sealed = this.#isIdle(idle, word, rule, now) ? this.#seal(idle, word) : null
    if (sealed === null || !this.#move(ownerAt(idle), sealed.owner, path.owner)) return AGAIN
    for (let tries = 0; ; tries++) {
      const other = this.#another(begin, idle, path.owner)
      if (other === null) return this.#open(sealed, rule, now) ? idle : AGAIN
      const isSealed = Atomics.load(this.#words, spentAt(other)) < 0n
      // Of two in the same step, the one with the higher slot gives up; the other waits for that.
      if (!isSealed || idle > other) {
        if (this.#move(ownerAt(idle), path.owner, nobody())) this.#open(sealed, rule, now)
        return AGAIN
      }
      this.#clear(other, path, rule, now)
      pause(tries)
    }
  }

  /** Read in halves, without a number on the heap for each: what it finds may be torn, and is looked at again. */
  #oldestIdle(begin: number, rule: BudgetRule, now: number): number | null {
    let oldest: number | null = null
    let oldestAt = now
    for (let slot = begin; slot < begin + GROUP; slot++) {
      const at = spentAt(slot) * 2
      const window = Atomics.load(this.#halves, at + HIGH)
      if (window < 0) {
        if (this.#isStale(Atomics.load(this.#words, spentAt(slot)))) return slot
        continue
      }
      const spent = Atomics.load(this.#halves, at + LOW) >>> 0
      const fullAt = rule.fullAt(window, spent, this.#startOf(slot))
      if (fullAt > oldestAt || (fullAt === oldestAt && oldest !== null)) continue
      oldest = slot
      oldestAt = fullAt
    }
    return oldest
  }

  #startOf(slot: number): number {
    const at = startAt(slot) * 2
    return Atomics.load(this.#halves, at + HIGH) * 2 ** 32 + (Atomics.load(this.#halves, at + LOW) >>> 0) - 1
  }

  /** Whether the slot may go to another key. */
  #isIdle(slot: number, word: bigint, rule: BudgetRule, now: number): boolean {
    if (word < 0n) return this.#isStale(word)
    return rule.fullAt(windowOf(word), spentOf(word), this.#startOf(slot)) <= now
  }

  #another(begin: number, slot: number, owner: bigint): number | null {
    for (let other = begin; other < begin + GROUP; other++) {
      if (other !== slot && Atomics.load(this.#words, ownerAt(other)) === owner) return other
    }
    return null
  }

  /** Takes the key out of a slot whose seal nobody will open. */
  #clear(slot: number, { owner }: Path, rule: BudgetRule, now: number): void {
    const word = Atomics.load(this.#words, spentAt(slot))
    if (word >= 0n || !this.#isStale(word)) return
    const sealed = this.#seal(slot, word)
    if (sealed !== null && this.#move(ownerAt(slot), owner, nobody())) this.#open(sealed, rule, now)
  }

  /** The slot is this thread's until it opens it, or a second has passed. */
  #seal(slot: number, word: bigint): Sealed | null {
    // From here on a start is changed by `open` alone.
    Atomics.compareExchange(this.#words, startAt(slot), 0n, 1n)
    // Read before the seal: if `word` still stands then, they belong to it.
    const owner = Atomics.load(this.#words, ownerAt(slot))
    const start = Atomics.load(this.#words, startAt(slot))
    const seal = -1n - ((BigInt(random(2 ** 22)) << TIME_BITS) | BigInt(Math.floor(this.#clock())))
    return this.#move(spentAt(slot), word, seal) ? { slot, seal, owner, start } : null
  }

  #isStale(seal: bigint): boolean {
    return this.#clock() - Number((-1n - seal) & TIME_MASK) > STALE_MS
  }

  /** Ends a seal with a full budget. */
  #open({ slot, seal, start }: Sealed, rule: BudgetRule, now: number): boolean {
    const window = 1 + random(2 ** 24)
    const begun = Math.floor(now) + 1 - window * rule.windowMs
    // 0 would mean that the first use is still to come.
    if (!this.#move(startAt(slot), start, BigInt(begun === 0 ? 1 : begun))) return false
    return this.#move(spentAt(slot), seal, wordOf({ window, spent: 0 }))
  }

  #move(at: number, before: bigint, after: bigint): boolean {
    return Atomics.compareExchange(this.#words, at, before, after) === before
  }

  #groupOf(first: number): number {
    return (Math.floor(first / GROUP) % this.#groups) * GROUP
  }
}

/** A slot that is being handed over, and what it held before. */
interface Sealed {
  slot: number
  seal: bigint
  owner: bigint
  start: bigint
}

/** A power of two: `slot >> 6` is the group. */
const GROUP = 64
const GROUP_WORDS = GROUP * 3
const GROUP_BYTES = GROUP_WORDS * 8
const FREE = 0n
/** No slot: the state has changed meanwhile. */
const AGAIN = -1
const SPINS = 100
const STALE_MS = 1_000
const TIME_BITS = 41n
const TIME_MASK = (1n << TIME_BITS) - 1n
/** Something to wait for that never comes. */
const NOBODY = new Int32Array(new SharedArrayBuffer(4))

/** Where the halves of a word stand in memory. */
const LOW = new Int32Array(new BigInt64Array([1n]).buffer)[0] === 1 ? 0 : 1
const HIGH = 1 - LOW

/** The low half of a word, as an array of halves has it. */
function halfOf(word: bigint): number {
  return Number(BigInt.asIntN(32, word))
}

/** Somebody is in the middle of something: hardly ever for longer than a few tries take. */
function pause(tries: number): void {
  if (tries > SPINS) Atomics.wait(NOBODY, 0, 0, 1)
}

function ownerAt(slot: number): number {
  return (slot >> 6) * GROUP_WORDS + (slot & (GROUP - 1))
}

function startAt(slot: number): number {
  return (slot >> 6) * GROUP_WORDS + GROUP + (slot & (GROUP - 1)) * 2
}

function spentAt(slot: number): number {
  return startAt(slot) + 1
}

function random(below: number): number {
  return Math.floor(Math.random() * below)
}

/** An owner that no key has, unlike all others. */
function nobody(): bigint {
  return (BigInt(random(2 ** 31)) << 32n) | BigInt(1 + random(2 ** 31))
}
