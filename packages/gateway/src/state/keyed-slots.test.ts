import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BudgetRule, windowOf } from './budget-rule.ts'
import { createKeyedTable, KeyedBudgets } from './keyed-budgets.ts'
import { KeyedSlots } from './keyed-slots.ts'

const GROUP = 64
const RULE = new BudgetRule({ amount: 2, burst: 0, windowMs: 1000 })
const closed = { isOpen: false, tell() {} }

test('a table has two slots for each key, in whole groups of 64 slots of 24 bytes', () => {
  for (const [keys, groups] of [
    [1, 1],
    [32, 1],
    [33, 2],
    [64, 2],
    [65, 3],
    [10_000, 313],
  ] as const) {
    assert.equal(KeyedSlots.bytesFor(keys), groups * GROUP * 24, `${keys} keys`)
  }
})

test('keys that begin at the same slot get neighbours, round the end of their group', () => {
  const slots = new KeyedSlots(new SharedArrayBuffer(KeyedSlots.bytesFor(128)))
  const enter = (owner: bigint, first: number) => slots.enter({ owner, first }, RULE, 0)?.slot
  assert.deepEqual([enter(1n, 62), enter(2n, 62), enter(3n, 62), enter(4n, 62)], [62, 63, 0, 1])
  assert.deepEqual([enter(2n, 62), enter(4n, 62)], [63, 1], 'the same key finds its slot again')
  assert.equal(enter(5n, 64 + 7), 64 + 7, 'the next group')
  assert.equal(enter(6n, 4 * 64 + 7), 7, 'groups come round too')
})

test('keys whose low halves are equal are told apart', () => {
  const slots = new KeyedSlots(new SharedArrayBuffer(KeyedSlots.bytesFor(1)))
  const enter = (owner: bigint) => slots.enter({ owner, first: 0 }, RULE, 0)?.slot
  const [one, other] = [0x1_0000_0005n, 0x2_0000_0005n]
  assert.deepEqual([enter(one), enter(other), enter(one), enter(other)], [0, 1, 0, 1])
  // The low half of this owner equals that of a free slot.
  assert.deepEqual([enter(0x3_0000_0000n), enter(0x4_0000_0000n), enter(0x3_0000_0000n)], [2, 3, 2])
})

test('a word is swapped only for the one that was read', () => {
  const slots = new KeyedSlots(new SharedArrayBuffer(KeyedSlots.bytesFor(1)))
  const tenancy = slots.enter({ owner: 1n, first: 0 }, RULE, 500.7)
  assert.deepEqual(tenancy, { slot: 0, start: 500, word: 0n })
  assert.equal(slots.swap(0, 7n, 8n), false)
  assert.equal(slots.swap(0, 0n, 1n), true)
  assert.deepEqual(slots.enter({ owner: 1n, first: 0 }, RULE, 900), { slot: 0, start: 500, word: 1n })
})

describe('a slot that is being handed over', () => {
  /** A full group of busy budgets; the test controls the clock of seals. */
  function setUp() {
    const clock = { now: 0 }
    const buffer = createKeyedTable(1)
    const budgets = new KeyedBudgets(
      buffer,
      { amount: 2, burst: 0, windowMs: 1000 },
      new KeyedSlots(buffer, () => clock.now),
    )
    const of = (key: string) => budgets.of(key, closed)
    for (let i = 0; i < GROUP; i++) of(`key ${i}`).take(1, 0)
    const words = new BigInt64Array(buffer, 0, GROUP * 3)
    const spentAt = (slot: number) => GROUP + slot * 2 + 1
    /** A seal contains its time, and a random number above that. */
    const seal = (slot: number, at: number, random = 0n) =>
      Atomics.store(words, spentAt(slot), -1n - ((random << 41n) | BigInt(at)))
    return { clock, of, seal, word: (slot: number) => Atomics.load(words, spentAt(slot)) }
  }

  test('is left alone for a second, and then may be taken over', () => {
    for (const random of [0n, 1n, 2n ** 22n - 1n]) {
      const { clock, of, seal, word } = setUp()
      seal(17, 50_000, random)
      const sealed = word(17)
      clock.now = 51_000
      assert.equal(of('more').take(1, 500).hasNoRoom, true)
      assert.equal(word(17), sealed)
      clock.now = 51_001
      assert.equal(of('more').take(2, 500).granted, true)
      assert.equal(of('more').take(1, 500).granted, false, 'it is a budget like all others then')
      assert.ok(word(17) > 0n)
    }
  })

  test('goes to the first who comes, and the next finds no room', () => {
    const { clock, of, seal } = setUp()
    seal(3, 1_000)
    seal(4, 1_000)
    clock.now = 9_000
    const granted = ['a', 'b', 'c'].map((key) => of(key).take(1, 500).granted)
    assert.deepEqual(granted, [true, true, false])
  })

  test('is given up with its key, which begins anew elsewhere', () => {
    const { clock, of, seal } = setUp()
    for (let slot = 0; slot < GROUP; slot++) seal(slot, 1_000)
    clock.now = 3_000
    for (let i = 0; i < GROUP; i++) assert.equal(of(`key ${i}`).take(2, 500).granted, true)
    assert.equal(of('more').take(1, 500).hasNoRoom, true)
  })
})

test('a budget that took the place of another counts from the time of its own first use', () => {
  const buffer = createKeyedTable(1)
  const budgets = new KeyedBudgets(buffer, { amount: 2, burst: 0, windowMs: 1000 })
  const of = (key: string) => budgets.of(key, closed)
  for (let i = 0; i < GROUP; i++) of(`key ${i}`).take(2, 0)
  const first = of('new').take(2, 5_300)
  assert.deepEqual([first.granted, first.remaining, first.resetMs], [true, 0, 1000])
  assert.ok(first.window > 0, 'its windows count from a random number')
  assert.equal(of('new').take(1, 6_299).granted, false)
  assert.deepEqual(of('new').take(1, 6_300).resetMs, 1000)
  of('new').giveBack(1, first.window, 6_300)
  assert.equal(of('new').look(6_300).remaining, 1, 'what a window before has given is not given back')
})

describe('a slot that goes to another key', () => {
  /** A group whose budgets are all in use until a time of their own: that of slot 5 is full again first. */
  function useFullGroup(rule: BudgetRule, unused = -1) {
    const buffer = new SharedArrayBuffer(KeyedSlots.bytesFor(1))
    const slots = new KeyedSlots(buffer)
    for (let owner = 1; owner <= GROUP; owner++) {
      const slot = owner - 1
      const start = slot === 5 ? 0 : 10
      assert.deepEqual(slots.enter({ owner: BigInt(owner), first: slot }, rule, start), { slot, start, word: 0n })
      // A unit of the first window is spent.
      if (slot !== unused) assert.equal(slots.swap(slot, 0n, 1n), true)
    }
    const words = new BigInt64Array(buffer)
    return { slots, startWordOf: (slot: number) => words[GROUP + slot * 2] }
  }

  test('is that of the budget that has been full for the longest time, and none before that', () => {
    const { slots } = useFullGroup(RULE)
    const enter = (owner: bigint, now: number): number | null => {
      const tenancy = slots.enter({ owner, first: 40 }, RULE, now)
      if (tenancy !== null) slots.swap(tenancy.slot, tenancy.word, tenancy.word + 1n)
      return tenancy?.slot ?? null
    }
    assert.equal(enter(1_000n, 999), null)
    assert.equal(enter(1_000n, 1_000), 5)
    assert.equal(enter(1_001n, 1_009), null)
    // The first of several that are equally old.
    assert.equal(enter(1_001n, 1_010), 0)
    assert.equal(enter(1_000n, 1_010), 5, 'the new key keeps its slot')
  })

  test('begins a window of its own at that time', () => {
    for (const now of [1_000, 1_234.9, 77_000]) {
      const { slots } = useFullGroup(RULE)
      const tenancy = slots.enter({ owner: 1_000n, first: 40 }, RULE, now)
      assert.ok(tenancy !== null)
      const window = windowOf(tenancy.word)
      assert.ok(window > 0)
      assert.equal(tenancy.start + window * RULE.windowMs, Math.floor(now))
    }
  })

  test('never has the start of a budget that was not used yet', (t) => {
    t.mock.method(Math, 'random', () => 0)
    const rule = new BudgetRule({ amount: 2, burst: 0, windowMs: 1_001 })
    const { slots, startWordOf } = useFullGroup(rule, 5)
    // Window 1 begins at 1,000, so window 0 began a millisecond before the clock did: a word of 0.
    const tenancy = slots.enter({ owner: 1_000n, first: 40 }, rule, 1_000)
    assert.deepEqual([tenancy?.slot, tenancy?.start, startWordOf(5)], [5, 0, 1n])
  })
})
