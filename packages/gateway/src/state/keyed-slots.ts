import { type BudgetRule, spentOf, windowOf, wordOf } from './budget-rule.ts'
import { monotonic } from './clock.ts'

/** The hash of a key and the start of its probe sequence. */
export interface Path {
  /** Hash of the key, never 0. */
  owner: bigint
  /** Selects the group, and the slot in the group that is probed first. */
  first: number
}

/** The contents of a slot that a key owns. As long as `word` is unchanged, the whole tenancy is. */
interface Tenancy {
  slot: number
  start: number
  word: bigint
}

/**
 * Slots for budgets by key, in groups of 64: a key lives only in its group, so a scan of 64 slots finds the key, or room
 * for it. No locks: each word changes by compare-and-swap.
 *
 *     group: 64 owners (hash of the key, 0: never used) | 64 times start (as in `Budget`), spent (as in `BudgetRule`)
 *
 * A used slot never becomes free again. A new key claims the first free slot of its probe sequence, so all threads claim
 * the same slot. Only in a group without free slots does a key take over the slot of another key: the slot whose budget
 * has been full again for the longest time. The takeover has steps that other threads can see:
 *
 *  1. `spent` becomes a seal: a negative number, unlike any other. Threads that spend from the old budget fail and retry.
 *  2. `owner` becomes the new key. Threads that look for the new key wait until the seal is gone.
 *  3. The thread scans the group: when two threads take over two slots for the same key, one sees the other and gives up.
 *  4. `start` and `spent` become those of a full budget. Its windows count from a random number, so no word of one tenancy
 *     ever equals a word of the next: a swap that was prepared before the takeover cannot succeed after it.
 *
 * A thread that dies during a takeover leaves a seal; after a second, other threads may take over the sealed slot. A
 * thread that was only slow finds its words changed, because each step compares the word that it replaces.
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

  /** Twice as many slots as keys: with that many keys, less than one group in a million is full. */
  static bytesFor(size: number): number {
    return Math.ceil((size * 2) / GROUP) * GROUP_BYTES
  }

  /**
   * Returns the slot of the key and claims a slot if the key has none; null when every slot of the group has a busy
   * budget.
   */
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

  /** Replaces `word` by `next`; returns whether the slot still held `word`. */
  swap(slot: number, word: bigint, next: bigint): boolean {
    const at = spentAt(slot)
    return Atomics.compareExchange(this.#words, at, word, next) === word
  }

  /** Returns the slot of the key, or claims the first free slot; null when the group has neither. */
  #walk({ owner, first }: Path): number | null {
    const begin = this.#groupOf(first)
    const owners = ownerAt(begin)
    const half = halfOf(owner)
    const firstOfGroup = first % GROUP
    const end = firstOfGroup + GROUP
    for (let probe = firstOfGroup; probe < end; probe++) {
      const index = probe & (GROUP - 1)
      // Half of the hash rules out nearly all other keys, without a BigInt on the heap for each slot.
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

  /** Gives the key the slot of the oldest idle budget; returns null when no budget is idle. */
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
      // When two threads are in the same step, the thread with the higher slot gives up, and the other waits for that.
      if (!isSealed || idle > other) {
        if (this.#move(ownerAt(idle), path.owner, nobody())) this.#open(sealed, rule, now)
        return AGAIN
      }
      this.#clear(other, path, rule, now)
      pause(tries)
    }
  }

  /**
   * Reads halves of words, without a BigInt on the heap for each slot. A read may be torn, so the caller checks the
   * result.
   */
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

  /** Returns whether the slot may go to another key. */
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

  /** Takes the key out of a slot whose seal is stale, because its thread died. */
  #clear(slot: number, { owner }: Path, rule: BudgetRule, now: number): void {
    const word = Atomics.load(this.#words, spentAt(slot))
    if (word >= 0n || !this.#isStale(word)) return
    const sealed = this.#seal(slot, word)
    if (sealed !== null && this.#move(ownerAt(slot), owner, nobody())) this.#open(sealed, rule, now)
  }

  /** Seals the slot: it belongs to this thread until `#open`, or until a second has passed. */
  #seal(slot: number, word: bigint): SealedSlot | null {
    // From here on, only `#open` changes the start.
    Atomics.compareExchange(this.#words, startAt(slot), 0n, 1n)
    // Owner and start are read before the seal is written: if `word` is unchanged then, both belong to it.
    const owner = Atomics.load(this.#words, ownerAt(slot))
    const start = Atomics.load(this.#words, startAt(slot))
    const seal = -1n - ((BigInt(random(2 ** 22)) << TIME_BITS) | BigInt(Math.floor(this.#clock())))
    return this.#move(spentAt(slot), word, seal) ? { slot, seal, owner, start } : null
  }

  #isStale(seal: bigint): boolean {
    return this.#clock() - Number((-1n - seal) & TIME_MASK) > STALE_MS
  }

  /** Replaces a seal by a full budget. */
  #open({ slot, seal, start }: SealedSlot, rule: BudgetRule, now: number): boolean {
    const window = 1 + random(2 ** 24)
    const begun = Math.floor(now) + 1 - window * rule.windowMs
    // A start of 0 would mean that the budget is unused.
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

/** A slot during a takeover, with its previous contents. */
interface SealedSlot {
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
/** Not a slot: the state changed meanwhile, so the caller tries again. */
const AGAIN = -1
const SPINS = 100
const STALE_MS = 1_000
const TIME_BITS = 41n
const TIME_MASK = (1n << TIME_BITS) - 1n
/** Nobody notifies this word: `Atomics.wait` on it sleeps until its timeout. */
const NOBODY = new Int32Array(new SharedArrayBuffer(4))

/** Indexes of the low and high half of a word in memory. */
const LOW = new Int32Array(new BigInt64Array([1n]).buffer)[0] === 1 ? 0 : 1
const HIGH = 1 - LOW

/** The low half of a word as a signed number, as an `Int32Array` reads it. */
function halfOf(word: bigint): number {
  return Number(BigInt.asIntN(32, word))
}

/** Waits for a takeover by another thread, which hardly ever takes longer than a few tries. */
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

/** Returns a random owner that no key has. */
function nobody(): bigint {
  return (BigInt(random(2 ** 31)) << 32n) | BigInt(1 + random(2 ** 31))
}
