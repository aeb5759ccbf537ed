import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { Budget } from './budget.ts'
import type { BudgetNumbers, Standing } from './budget-rule.ts'
import { createKeyedTable, KeyedBudgets } from './keyed-budgets.ts'
import { createTable, SharedTable } from './shared-table.ts'
import { spendInThreads } from './test-key-spenders.ts'

const closed = { isOpen: false, tell() {} }
const open = { isOpen: true, tell() {} }
/** A table of the smallest size has one group. */
const GROUP = 64

function budgetsOf(numbers: Partial<BudgetNumbers> = {}, buffer = createKeyedTable(1)) {
  const budgets = new KeyedBudgets(buffer, { amount: 2, burst: 0, windowMs: 1000, ...numbers })
  return (key: string) => budgets.of(key, closed)
}

function plainBudget(numbers: BudgetNumbers): Budget {
  return new Budget({ ...numbers, cells: new SharedTable(createTable(8)).cells('a')! })
}

test('each key has a budget of its own', () => {
  const of = budgetsOf()
  assert.deepEqual(of('a').take(2, 0), { granted: true, remaining: 0, resetMs: 1000, window: 0 })
  assert.equal(of('a').take(1, 500).granted, false)
  assert.equal(of('b').take(1, 500).granted, true)
  assert.equal(of('a').look(1000).remaining, 2)
  of('a').charge(5, 1000)
  assert.equal(of('a').look(1999).granted, false)
  const { window } = of('b').take(1, 2000)
  of('b').giveBack(1, window, 2000)
  assert.equal(of('b').look(2000).remaining, 2)
})

test('a key is called by a part of a hash, which is another in another table', () => {
  const [first, second] = [budgetsOf(), budgetsOf()]
  assert.match(first('secret').name, /^[0-9a-f]{8}$/)
  assert.equal(first('secret').name, first('secret').name)
  assert.notEqual(first('secret').name, second('secret').name)
})

describe('a full table', () => {
  test('with busy budgets only has no room for more, and a flood changes none of them', () => {
    const of = budgetsOf({ amount: 3 })
    for (let i = 0; i < GROUP; i++) assert.equal(of(`busy ${i}`).take(2, 0).granted, true)
    for (let i = 0; i < 1000; i++) {
      const refused = of(`flood ${i}`).take(1, 500)
      assert.deepEqual(refused, { granted: false, remaining: 0, resetMs: 1000, window: -1, hasNoRoom: true })
    }
    for (let i = 0; i < GROUP; i++) assert.equal(of(`busy ${i}`).look(500).remaining, 1)
  })

  test('grants keys without counting when open, and reports it', () => {
    let told = 0
    const whenFull = { isOpen: true, tell: () => void told++ }
    const budgets = new KeyedBudgets(createKeyedTable(1), { amount: 1, burst: 0, windowMs: 1000 })
    for (let i = 0; i < GROUP; i++) budgets.of(`busy ${i}`, whenFull).take(1, 0)
    for (let i = 0; i < 3; i++) {
      const { granted, hasNoRoom } = budgets.of('more', whenFull).take(1, 0)
      assert.deepEqual([granted, hasNoRoom], [true, true])
    }
    budgets.of('more', whenFull).charge(5, 0)
    budgets.of('more', whenFull).giveBack(1, -1, 0)
    assert.equal(told, 4)
    assert.equal(budgets.of('busy 0', open).look(0).granted, false)
  })

  test('replaces the budget that has been full again for the longest time', () => {
    const of = budgetsOf()
    for (let i = 0; i < GROUP; i++) of(`key ${i}`).take(1, i)
    assert.equal(of('more').take(1, 999).hasNoRoom, true)
    // The first budget is full at 1000, the second at 1001, and so on.
    assert.equal(of('first').take(1, 1001).granted, true)
    assert.equal(of('second').take(1, 1001).granted, true)
    assert.equal(of('third').take(1, 1001).hasNoRoom, true)
    assert.equal(of('key 2').look(1001).remaining, 1)
    assert.equal(of('key 0').look(1001).hasNoRoom, true)
  })

  test('does so too on a machine that has run for more than 2^32 ms, whose times take both halves of a word', () => {
    const of = budgetsOf()
    for (const at of [2 ** 32 - 500, 3 * 2 ** 32 + 7]) {
      for (let i = 0; i < GROUP; i++) of(`key ${at} ${i}`).take(1, at + i)
      assert.equal(of(`more ${at}`).take(1, at + 999).hasNoRoom, true)
      assert.equal(of(`first ${at}`).take(1, at + 1001).granted, true)
      assert.equal(of(`second ${at}`).take(1, at + 1001).granted, true)
      assert.equal(of(`third ${at}`).take(1, at + 1001).hasNoRoom, true)
    }
  })

  test('keeps a budget with a burst until all of it is there again', () => {
    const of = budgetsOf({ amount: 1, burst: 3 })
    for (let i = 0; i < GROUP; i++) of(`key ${i}`).take(4, 0)
    assert.equal(of('more').take(1, 3999).hasNoRoom, true)
    assert.equal(of('more').take(1, 4000).granted, true)
  })
})

describe('a thread that died while it handed a slot over', () => {
  /** Fills a group. Layout of its words: 64 owners, then start and spent of each slot. */
  function setUp() {
    const buffer = createKeyedTable(1)
    const of = budgetsOf({}, buffer)
    for (let i = 0; i < GROUP; i++) of(`key ${i}`).take(1, 0)
    const words = new BigInt64Array(buffer, 0, GROUP * 3)
    /** A seal from the time when the machine was started. */
    const seal = (slot: number) => Atomics.store(words, GROUP + slot * 2 + 1, -1n)
    return { of, seal }
  }

  test('leaves a slot that others can have', () => {
    const { of, seal } = setUp()
    assert.equal(of('more').take(1, 500).hasNoRoom, true)
    seal(17)
    assert.equal(of('more').take(1, 500).granted, true)
    assert.equal(of('yet another').take(1, 500).hasNoRoom, true)
  })

  test('does not keep its key from being used', () => {
    const { of, seal } = setUp()
    for (let slot = 0; slot < GROUP; slot++) seal(slot)
    for (let i = 0; i < GROUP; i++) assert.deepEqual(of(`key ${i}`).take(2, 500).granted, true)
    for (let i = 0; i < GROUP; i++) assert.deepEqual(of(`key ${i}`).take(1, 500).granted, false)
  })
})

const numbers = fc.record({
  amount: fc.integer({ min: 1, max: 4 }),
  burst: fc.integer({ min: 0, max: 4 }),
  windowMs: fc.constantFrom(10, 35, 1000),
})

function stepsOver(keys: number) {
  return fc.array(
    fc.record({
      key: fc.integer({ min: 0, max: keys - 1 }),
      wait: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 500 })),
      operation: fc.constantFrom('take', 'charge', 'look'),
      count: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 400 },
  )
}

type Step = typeof stepsOver extends (keys: number) => fc.Arbitrary<(infer S)[]> ? S : never

function run(
  budget: Pick<Budget, 'take' | 'charge' | 'look'>,
  { operation, count }: Step,
  now: number,
): Standing | null {
  if (operation === 'take') return budget.take(count, now)
  if (operation === 'look') return budget.look(now)
  budget.charge(count, now)
  return null
}

test('with room for all, every key has what a budget of its own would have', () => {
  fc.assert(
    fc.property(numbers, stepsOver(GROUP), (own, steps) => {
      const of = budgetsOf(own)
      const plain = new Map<number, Budget>()
      let now = 77
      for (const step of steps) {
        now += step.wait
        if (!plain.has(step.key)) plain.set(step.key, plainBudget(own))
        assert.deepEqual(run(of(String(step.key)), step, now), run(plain.get(step.key)!, step, now))
      }
    }),
    { numRuns: 100 },
  )
})

test('with more keys than room, only full budgets are forgotten, and only so many busy ones keep others out', () => {
  fc.assert(
    fc.property(numbers, stepsOver(GROUP * 3), (own, steps) => {
      const of = budgetsOf(own)
      const capacity = own.amount + own.burst
      const plain = new Map<number, Budget>()
      let now = 77
      for (const step of steps) {
        now += step.wait
        const isFull = (key: number) => (plain.get(key)?.look(now).remaining ?? capacity) === capacity
        const busy = [...plain.keys()].filter((key) => !isFull(key))
        const wasFull = isFull(step.key)
        // A full budget may have been replaced; then its windows start again.
        if (wasFull) plain.delete(step.key)
        const seen = of(String(step.key)).look(now)
        if (seen.hasNoRoom) {
          assert.ok(wasFull && busy.length >= GROUP)
          continue
        }
        if (wasFull) assert.equal(seen.remaining, capacity)
        const expected = plain.get(step.key) ?? plainBudget(own)
        if (!plain.has(step.key)) {
          // A budget that began at the same time within a window as the budget in the table.
          expected.look(now - (own.windowMs - seen.resetMs))
          plain.set(step.key, expected)
        }
        const [got, wanted] = [run(of(String(step.key)), step, now), run(expected, step, now)]
        assert.deepEqual(got && { ...got, window: 0 }, wanted && { ...wanted, window: 0 })
      }
    }),
    { numRuns: 100 },
  )
})

test('as many keys as the table is made for find room', () => {
  for (const size of [100, 10_000]) {
    const of = budgetsOf({}, createKeyedTable(size))
    for (let i = 0; i < size; i++) assert.equal(of(String(i)).take(1, 0).granted, true)
  }
})

test('threads that bring the same new keys to a full table get each budget once', async (t) => {
  const { granted, withoutRoom } = await spendInThreads(t, { rounds: 300, keys: 48, threads: 3 })
  assert.equal(withoutRoom, 0)
  assert.deepEqual(granted, new Set([7]))
})
