import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { eventually } from '../testing/process.ts'
import { Budget, type BudgetOptions } from './budget.ts'
import { createTable, SharedTable } from './shared-table.ts'
import type { SpenderData, SpenderShared } from './test-spender.ts'

const SECOND = 1000

function budgetOf(numbers: { amount: number; burst?: number; windowMs?: number }, buffer = createTable(8)): Budget {
  const cells = new SharedTable(buffer).cells('key')!
  return new Budget({ burst: 0, windowMs: SECOND, ...numbers, cells })
}

describe('requests', () => {
  test('spend a budget that is full at first, and full again at each whole window since the first use', () => {
    const budget = budgetOf({ amount: 2 })
    assert.deepEqual(budget.take(1, 5_300), { granted: true, remaining: 1, resetMs: 1000, window: 0 })
    assert.deepEqual(budget.take(1, 5_900), { granted: true, remaining: 0, resetMs: 400, window: 0 })
    assert.deepEqual(budget.take(1, 6_299.5), { granted: false, remaining: 0, resetMs: 0.5, window: 0 })
    assert.deepEqual(budget.take(1, 6_300), { granted: true, remaining: 1, resetMs: 1000, window: 1 })
    assert.deepEqual(budget.take(1, 99_400), { granted: true, remaining: 1, resetMs: 900, window: 94 })
  })

  test('may save up a burst, which comes back by the amount of each window', () => {
    const budget = budgetOf({ amount: 2, burst: 3 })
    assert.equal(budget.capacity, 5)
    assert.equal(budget.take(5, 0).remaining, 0)
    assert.equal(budget.take(1, 999).granted, false)
    assert.equal(budget.look(1000).remaining, 2)
    assert.equal(budget.look(2000).remaining, 4)
    assert.equal(budget.look(3000).remaining, 5)
    assert.equal(budget.look(9000).remaining, 5)
    assert.deepEqual(budget.take(3, 2000), { granted: true, remaining: 1, resetMs: 1000, window: 2 })
    assert.equal(budget.take(4, 3000).granted, false)
    assert.equal(budget.take(3, 3000).granted, true)
  })

  test('that ask for more than is left get nothing, and cost nothing', () => {
    const budget = budgetOf({ amount: 3 })
    assert.equal(budget.take(2, 0).remaining, 1)
    assert.deepEqual(budget.take(2, 0), { granted: false, remaining: 1, resetMs: 1000, window: 0 })
    assert.equal(budget.take(1, 0).granted, true)
    assert.equal(budget.take(4, 1000).granted, false)
  })

  test('may be given back in their window, not after it', () => {
    const budget = budgetOf({ amount: 2, burst: 1 })
    const taken = budget.take(2, 0)
    budget.giveBack(2, taken.window, 500)
    assert.equal(budget.look(500).remaining, 3)
    const late = budget.take(3, 500)
    assert.equal(budget.take(2, 1000).granted, true)
    budget.giveBack(3, late.window, 1000)
    assert.equal(budget.take(1, 1000).granted, false)
  })
})

describe('tokens', () => {
  test('available: a request that stays within the limit leaves the rest', () => {
    const budget = budgetOf({ amount: 100 })
    assert.equal(budget.look(0).granted, true)
    budget.charge(99, 10)
    assert.deepEqual(budget.look(10), { granted: true, remaining: 1, resetMs: 990, window: 0 })
  })

  test('available: the request that crosses the limit succeeds, and leaves the budget exhausted without a debt', () => {
    const budget = budgetOf({ amount: 100 })
    assert.equal(budget.look(0).granted, true)
    budget.charge(5_000, 10)
    assert.deepEqual(budget.look(10), { granted: false, remaining: 0, resetMs: 990, window: 0 })
    assert.equal(budget.look(1000).remaining, 100)
  })

  test('exhausted: the next request is refused until the window resets, and then served without further ado', () => {
    const budget = budgetOf({ amount: 100 })
    budget.charge(100, 0)
    assert.equal(budget.look(0).granted, false)
    assert.equal(budget.look(999).granted, false)
    assert.equal(budget.look(1000).granted, true)
  })

  test('looking takes nothing, so requests at the same time all pass', () => {
    const budget = budgetOf({ amount: 1 })
    for (let i = 0; i < 10; i++) assert.equal(budget.look(0).granted, true)
    for (let i = 0; i < 10; i++) budget.charge(50, 20)
    assert.equal(budget.look(20).granted, false)
    assert.equal(budget.look(1000).granted, true)
  })

  test('count in the window in which they become known', () => {
    const budget = budgetOf({ amount: 100 })
    assert.equal(budget.look(0).granted, true)
    budget.charge(100, 5_500)
    assert.deepEqual(budget.look(5_500), { granted: false, remaining: 0, resetMs: 500, window: 5 })
  })

  test('with a burst, an overrun empties it all and each window brings its amount', () => {
    const budget = budgetOf({ amount: 10, burst: 20 })
    budget.charge(1_000, 0)
    assert.equal(budget.look(1000).remaining, 10)
    assert.equal(budget.look(2000).remaining, 20)
  })
})

describe('a reload', () => {
  test('with the same numbers changes nothing', () => {
    const buffer = createTable(8)
    budgetOf({ amount: 10 }, buffer).take(7, 0)
    assert.deepEqual(budgetOf({ amount: 10 }, buffer).look(400), {
      granted: true,
      remaining: 3,
      resetMs: 600,
      window: 0,
    })
  })

  test('with a larger budget keeps what was spent', () => {
    const buffer = createTable(8)
    budgetOf({ amount: 10 }, buffer).take(10, 0)
    assert.equal(budgetOf({ amount: 15, burst: 5 }, buffer).look(400).remaining, 10)
  })

  test('with a smaller budget leaves it empty, and the next window is its own', () => {
    const buffer = createTable(8)
    budgetOf({ amount: 1000 }, buffer).take(900, 0)
    const smaller = budgetOf({ amount: 10 }, buffer)
    assert.deepEqual(smaller.take(1, 400), { granted: false, remaining: 0, resetMs: 600, window: 0 })
    smaller.charge(5, 400)
    // A worker that still runs the old config must not see units come back.
    assert.equal(budgetOf({ amount: 1000 }, buffer).look(400).remaining, 100)
    assert.equal(smaller.take(10, 1000).granted, true)
  })
})

test('impossible numbers are refused', () => {
  assert.throws(() => budgetOf({ amount: 0 }), RangeError)
  assert.throws(() => budgetOf({ amount: 1, burst: -1 }), RangeError)
  assert.throws(() => budgetOf({ amount: 2 ** 32 }), RangeError)
  assert.equal(budgetOf({ amount: 2 ** 32 - 1 }).take(2 ** 32 - 1, 0).remaining, 0)
})

/** A model of the documented rule: how much is left, and when more is added. */
class Model {
  readonly #amount: number
  readonly #capacity: number
  readonly #windowMs: number
  #available: number
  #nextFill: number | null = null

  constructor({ amount, burst, windowMs }: Omit<BudgetOptions, 'cells'>) {
    this.#amount = amount
    this.#capacity = amount + burst
    this.#windowMs = windowMs
    this.#available = this.#capacity
  }

  at(now: number) {
    this.#nextFill ??= now + this.#windowMs
    while (now >= this.#nextFill) {
      this.#available = Math.min(this.#capacity, this.#available + this.#amount)
      this.#nextFill += this.#windowMs
    }
    return { available: this.#available, resetMs: this.#nextFill - now }
  }

  remove(count: number): void {
    this.#available = Math.max(0, this.#available - count)
  }
}

const numbers = fc.record({
  amount: fc.integer({ min: 1, max: 5 }),
  burst: fc.integer({ min: 0, max: 7 }),
  windowMs: fc.constantFrom(1, 10, 1000),
})

test('every operation gives what the rule gives', () => {
  const step = fc.record({
    wait: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 5000 })),
    operation: fc.constantFrom('take', 'charge', 'look'),
    count: fc.integer({ min: 1, max: 14 }),
  })
  fc.assert(
    fc.property(numbers, fc.array(step, { maxLength: 60 }), (options, steps) => {
      const budget = budgetOf(options)
      const model = new Model(options)
      let now = 77
      for (const { wait, operation, count } of steps) {
        now += wait
        const expected = model.at(now)
        if (operation === 'charge') {
          budget.charge(count, now)
          model.remove(count)
          continue
        }
        const wanted = operation === 'take' ? count : 1
        const granted = expected.available >= wanted
        if (granted && operation === 'take') model.remove(count)
        const standing = operation === 'take' ? budget.take(count, now) : budget.look(now)
        const { available: remaining, resetMs } = model.at(now)
        assert.deepEqual({ ...standing, window: 0 }, { granted, remaining, resetMs, window: 0 })
      }
    }),
    { numRuns: 1000 },
  )
})

test('threads whose times differ never get more in a window than it has, and are not locked out', () => {
  const step = fc.record({
    advance: fc.integer({ min: 0, max: 30 }),
    late: fc.integer({ min: 0, max: 25 }),
    takeBack: fc.boolean(),
  })
  fc.assert(
    fc.property(numbers, fc.array(step, { maxLength: 100 }), (options, steps) => {
      const budget = budgetOf({ ...options, windowMs: 10 })
      const spentByWindow = new Map<number, number>()
      let time = 100
      let last = 0
      for (const { advance, late, takeBack } of steps) {
        time += advance
        const { granted, window } = budget.take(1, time - late)
        if (!granted) continue
        if (takeBack) {
          budget.giveBack(1, window, time)
          continue
        }
        spentByWindow.set(window, (spentByWindow.get(window) ?? 0) + 1)
        last = Math.max(last, window)
      }
      const total = [...spentByWindow.values()].reduce((sum, spent) => sum + spent, 0)
      assert.ok(total <= options.burst + options.amount * (last + 1))
      for (const spent of spentByWindow.values()) assert.ok(spent <= budget.capacity)
      assert.equal(budget.take(1, time + 10).granted, true)
    }),
    { numRuns: 500 },
  )
})

describe('threads', () => {
  const windows = 25

  test('that take as fast as they can get exactly the budget of every window', async (t) => {
    const scene = startSpenders(t, { amount: 40, burst: 0, windowMs: SECOND }, 3)
    for (let window = 0; window < windows; window++) await scene.exhaust(window)
    await scene.stop()
    assert.deepEqual(scene.granted(windows), Array<number>(windows).fill(40))
  })

  test('get the burst once', async (t) => {
    const scene = startSpenders(t, { amount: 40, burst: 15, windowMs: SECOND }, 3)
    for (let window = 0; window < windows; window++) await scene.exhaust(window)
    await scene.stop()
    assert.deepEqual(scene.granted(windows), [55, ...Array<number>(windows - 1).fill(40)])
  })

  test('that die leave nothing locked and nothing refilled', async (t) => {
    const scene = startSpenders(t, { amount: 40, burst: 0, windowMs: SECOND }, 3)
    let killed = 0
    for (let window = 0; window < windows; window++) {
      if (window % 3 === 0) killed += await scene.replaceOne()
      await scene.exhaust(window)
    }
    await scene.stop()
    const granted = scene.granted(windows)
    assert.ok(granted.every((count) => count <= 40))
    // A thread may die between its take and its count.
    assert.ok(granted.reduce((sum, count) => sum + count) >= 40 * windows - killed)
  })
})

function startSpenders(t: TestContext, options: Omit<BudgetOptions, 'cells'>, count: number) {
  const buffer = createTable(8)
  const numbers = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length))
  const shared: SpenderShared = { clock: numbers(1), stop: numbers(1), granted: numbers(64), refused: numbers(64) }
  const start = () => {
    const data: SpenderData = { buffer, options, shared }
    return new Worker(new URL('./test-spender.ts', import.meta.url), { workerData: data })
  }
  const workers = Array.from({ length: count }, start)
  t.after(() => Promise.all(workers.map((worker) => worker.terminate())))
  return {
    /** Goes on to the next window only when many takes were refused in this window. */
    async exhaust(window: number): Promise<void> {
      await eventually(`window ${window} exhausted`, () => Atomics.load(shared.refused, window) > 100)
      Atomics.add(shared.clock, 0, options.windowMs)
    },
    async replaceOne(): Promise<number> {
      workers.push(start())
      await workers.shift()!.terminate()
      return 1
    },
    async stop(): Promise<void> {
      const ended = workers.map((worker) => once(worker, 'exit'))
      Atomics.store(shared.stop, 0, 1)
      await Promise.all(ended)
    },
    granted: (windows: number) => [...shared.granted.slice(0, windows)],
  }
}

test('a budget holds at most what half a word can count, and no negative number', () => {
  const most = 2 ** 32 - 1
  assert.equal(budgetOf({ amount: most - 5, burst: 5 }).take(most, 0).granted, true)
  for (const numbers of [
    { amount: most - 5, burst: 6 },
    { amount: most + 1 },
    { amount: 0 },
    { amount: 1, burst: -1 },
  ]) {
    assert.throws(() => budgetOf(numbers), RangeError)
  }
})
