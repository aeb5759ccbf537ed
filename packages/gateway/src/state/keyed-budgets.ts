import { hash, randomBytes } from 'node:crypto'
import {
  type BudgetNumbers,
  BudgetRule,
  type Spendable,
  spentOf,
  type Standing,
  windowOf,
  wordOf,
} from './budget-rule.ts'
import { KeyedSlots, type Path } from './keyed-slots.ts'

/** A budget for each value of a key, in memory that all threads share. */
export class KeyedBudgets {
  readonly #slots: KeyedSlots
  readonly #rule: BudgetRule
  readonly #salt: string

  constructor(buffer: SharedArrayBuffer, numbers: BudgetNumbers, slots = new KeyedSlots(buffer)) {
    this.#slots = slots
    this.#rule = new BudgetRule(numbers)
    this.#salt = Buffer.from(new Uint8Array(buffer, buffer.byteLength - SALT_BYTES, SALT_BYTES)).toString('hex')
  }

  of(key: string, whenFull: WhenFull): KeyedBudget {
    const digest = hash('sha256', this.#salt + key, 'buffer')
    const owner = digest.readBigInt64LE(0)
    const path = { owner: owner === 0n ? 1n : owner, first: digest.readUInt32LE(8) }
    return new KeyedBudget(this.#slots, this.#rule, { path, name: digest.toString('hex', 16, 20), whenFull })
  }
}

/** The behavior for keys that find no room in the table. */
interface WhenFull {
  /** Whether operations on such keys are granted. */
  isOpen: boolean
  /** Called for each operation that found no room. */
  tell(): void
  /** Called each time a request is checked, and not when tokens are charged. */
  asked?(): void
}

interface KeyedBudgetOptions {
  path: Path
  name: string
  whenFull: WhenFull
}

/** The budget of one key, in whichever slot the key has at the moment. */
class KeyedBudget implements Spendable {
  /**
   * The key's name in traces and logs. The key may be a secret, so the name is a part of a salted hash that nobody else
   * can compute.
   */
  readonly name: string
  readonly #slots: KeyedSlots
  readonly #rule: BudgetRule
  readonly #path: Path
  readonly #whenFull: WhenFull

  constructor(slots: KeyedSlots, rule: BudgetRule, { path, name, whenFull }: KeyedBudgetOptions) {
    this.name = name
    this.#slots = slots
    this.#rule = rule
    this.#path = path
    this.#whenFull = whenFull
  }

  get capacity(): number {
    return this.#rule.capacity
  }

  take(count: number, now: number): Standing {
    for (;;) {
      const tenancy = this.#slots.enter(this.#path, this.#rule, now)
      if (tenancy === null) return this.#withoutRoom()
      const { slot, start, word } = tenancy
      const { window, spent } = this.#rule.at(word, start, now)
      if (spent + count > this.capacity) return this.#rule.standing(false, start, { window, spent }, now)
      const after = { window, spent: spent + count }
      if (this.#slots.swap(slot, word, wordOf(after))) return this.#rule.standing(true, start, after, now)
    }
  }

  /** Claims a slot for the key too, because later charges need the slot. */
  look(now: number): Standing {
    const tenancy = this.#slots.enter(this.#path, this.#rule, now)
    if (tenancy === null) return this.#withoutRoom()
    const state = this.#rule.at(tenancy.word, tenancy.start, now)
    return this.#rule.standing(state.spent < this.capacity, tenancy.start, state, now)
  }

  /** Without room the charge is not counted: the budgets of other keys stay unchanged. */
  charge(count: number, now: number): void {
    for (;;) {
      const tenancy = this.#slots.enter(this.#path, this.#rule, now)
      if (tenancy === null) return this.#whenFull.tell()
      const { window, spent } = this.#rule.at(tenancy.word, tenancy.start, now)
      const after = wordOf({ window, spent: this.#rule.charged(spent, count) })
      if (this.#slots.swap(tenancy.slot, tenancy.word, after)) return
    }
  }

  giveBack(count: number, window: number, now: number): void {
    for (;;) {
      const tenancy = this.#slots.enter(this.#path, this.#rule, now)
      if (tenancy === null || windowOf(tenancy.word) !== window) return
      const after = wordOf({ window, spent: spentOf(tenancy.word) - count })
      if (this.#slots.swap(tenancy.slot, tenancy.word, after)) return
    }
  }

  #withoutRoom(): Standing {
    const { isOpen } = this.#whenFull
    this.#whenFull.tell()
    this.#whenFull.asked?.()
    return {
      granted: isOpen,
      remaining: isOpen ? Infinity : 0,
      resetMs: this.#rule.windowMs,
      window: -1,
      hasNoRoom: true,
    }
  }
}

const SALT_BYTES = 16

/** Creates memory for `size` busy keys. The operating system allocates only the pages that are touched. */
export function createKeyedTable(size: number): SharedArrayBuffer {
  // The salt follows the slots. It keeps clients from choosing keys that fall into the same group.
  const buffer = new SharedArrayBuffer(KeyedSlots.bytesFor(size) + SALT_BYTES)
  new Uint8Array(buffer, buffer.byteLength - SALT_BYTES, SALT_BYTES).set(randomBytes(SALT_BYTES))
  return buffer
}
