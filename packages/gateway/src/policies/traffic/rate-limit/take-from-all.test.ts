import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { Budget } from '../../../state/budget.ts'
import type { SharedCells } from '@portico/http/client'
import { createTable, SharedTable } from '../../../state/shared-table.ts'
import { type Limit, takeFromAll } from './take-from-all.ts'
import type { TakerData } from './test-taker.ts'

const SECOND = 1000
const MINUTE = 60_000

function limitOf(name: string, cells: SharedCells, numbers: { amount: number; burst?: number; windowMs?: number }) {
  return {
    name,
    counts: 'requests',
    budget: new Budget({ burst: 0, windowMs: SECOND, ...numbers, cells }),
  } satisfies Limit
}

function remaining(limits: readonly Limit[], now: number): number[] {
  return limits.map(({ budget }) => budget.look(now).remaining)
}

test('a request takes from all limits and is told of the one with the least left', () => {
  const table = new SharedTable(createTable(8))
  const limits: [Limit, Limit] = [
    limitOf('wide', table.cells('a')!, { amount: 5 }),
    limitOf('tight', table.cells('b')!, { amount: 3, windowMs: MINUTE }),
  ]
  const { limit, standing } = takeFromAll(limits, 0)
  assert.equal(limit.name, 'tight')
  assert.deepEqual(standing, { granted: true, remaining: 2, resetMs: MINUTE, window: 0 })
  assert.deepEqual(remaining(limits, 0), [4, 2])
})

test('a refused request takes from none', () => {
  const table = new SharedTable(createTable(8))
  const limits: [Limit, Limit] = [
    limitOf('first', table.cells('a')!, { amount: 5 }),
    limitOf('second', table.cells('b')!, { amount: 1, windowMs: MINUTE }),
  ]
  assert.equal(takeFromAll(limits, 0).standing.granted, true)
  for (let i = 0; i < 10; i++) {
    const { limit, standing } = takeFromAll(limits, 0)
    assert.equal(limit.name, 'second')
    assert.equal(standing.granted, false)
  }
  assert.deepEqual(remaining(limits, 0), [4, 0])
})

test('the exhausted limit with the latest reset is named', () => {
  const table = new SharedTable(createTable(8))
  const limits: [Limit, Limit, Limit] = [
    limitOf('second', table.cells('a')!, { amount: 1 }),
    limitOf('minute', table.cells('b')!, { amount: 1, windowMs: MINUTE }),
    limitOf('other second', table.cells('c')!, { amount: 1 }),
  ]
  takeFromAll(limits, 0)
  const { limit, standing } = takeFromAll(limits, 400)
  assert.equal(limit.name, 'minute')
  assert.equal(standing.resetMs, MINUTE - 400)
  assert.equal(takeFromAll(limits, 400 + standing.resetMs).standing.granted, true)
})

test('budgets are refunded when another request takes the last of a later limit in between', () => {
  const table = new SharedTable(createTable(8))
  const rival = limitOf('rival', table.cells('b')!, { amount: 1 })
  const cells = table.cells('b')!
  let uses = 0
  const contested: SharedCells = {
    use(now) {
      // The first use is the look.
      if (++uses === 2) assert.equal(rival.budget.take(1, now).granted, true)
      return cells.use(now)
    },
  }
  const limits: [Limit, Limit] = [
    limitOf('first', table.cells('a')!, { amount: 5 }),
    limitOf('contested', contested, { amount: 1 }),
  ]
  const { limit, standing } = takeFromAll(limits, 0)
  assert.equal(standing.granted, false)
  assert.equal(limit.name, 'contested')
  assert.deepEqual(remaining(limits, 0), [5, 0])
})

test('a request passes exactly when every limit has something left', () => {
  const numbers = fc.record({
    amount: fc.integer({ min: 1, max: 4 }),
    burst: fc.integer({ min: 0, max: 4 }),
    windowMs: fc.constantFrom(10, 35, 100),
  })
  const waits = fc.array(fc.integer({ min: 0, max: 15 }), { maxLength: 80 })
  fc.assert(
    fc.property(fc.array(numbers, { minLength: 1, maxLength: 5 }), waits, (all, steps) => {
      const table = new SharedTable(createTable(8))
      const made = all.map((own, index) => limitOf(String(index), table.cells(String(index))!, own))
      const limits: [Limit, ...Limit[]] = [made[0]!, ...made.slice(1)]
      let now = 0
      for (const wait of steps) {
        now += wait
        const before = remaining(limits, now)
        const { limit, standing } = takeFromAll(limits, now)
        const passes = before.every((left) => left > 0)
        assert.equal(standing.granted, passes)
        const after = before.map((left) => left - (passes ? 1 : 0))
        assert.deepEqual(remaining(limits, now), after)
        assert.equal(standing.remaining, Math.min(...after))
        assert.equal(standing.remaining, after[limits.indexOf(limit)])
      }
    }),
    { numRuns: 300 },
  )
})

test('threads get exactly what the tightest limit has, and all limits agree on it', async () => {
  const buffer = createTable(8)
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const amounts = [5000, 2000, 2000]
  const workers = [0, 1, 2].map(() => {
    const workerData: TakerData = { buffer, amounts, gate }
    return new Worker(new URL('./test-taker.ts', import.meta.url), { workerData })
  })
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  const results = workers.map(async (worker) => (await once(worker, 'message'))[0] as number)
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  const passed = await Promise.all(results)
  assert.equal(
    passed.reduce((sum, count) => sum + count),
    2000,
  )
  const table = new SharedTable(buffer)
  const limits = amounts.map((amount, index) => limitOf('', table.cells(`limit ${index}`)!, { amount }))
  assert.deepEqual(remaining(limits, 0), [3000, 0, 0])
})
