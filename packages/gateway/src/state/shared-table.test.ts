import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { createTable, SharedTable } from './shared-table.ts'
import type { ClaimerData } from './test-claimer.ts'

test('a key has the same words in every thread, zeros at first', () => {
  const buffer = createTable()
  const [one, other] = [new SharedTable(buffer), new SharedTable(buffer)]
  const words = one.cells('a')!.use(0)
  assert.deepEqual([...words], [0n, 0n, 0n, 0n, 0n, 0n])
  words[5] = 7n
  assert.equal(other.cells('a')!.use(0)[5], 7n)
  assert.equal(other.cells('b')!.use(0)[5], 0n)
})

test('a table behaves like a map with as many keys as slots', () => {
  const step = fc.record({
    thread: fc.integer({ min: 0, max: 2 }),
    key: fc.integer({ min: 0, max: 20 }).map((index) => `key ${index}`),
    word: fc.integer({ min: 0, max: 5 }),
    add: fc.bigInt({ min: -(2n ** 40n), max: 2n ** 40n }),
  })
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 8, 16), fc.array(step, { maxLength: 100 }), (slots, steps) => {
      const buffer = createTable(slots)
      const threads = [0, 1, 2].map(() => new SharedTable(buffer))
      const model = new Map<string, bigint[]>()
      for (const { thread, key, word, add } of steps) {
        const cells = threads[thread]!.cells(key)
        if (!model.has(key) && model.size < slots) model.set(key, [0n, 0n, 0n, 0n, 0n, 0n])
        const expected = model.get(key)
        assert.equal(cells === null, expected === undefined)
        if (cells === null || expected === undefined) continue
        assert.equal(Atomics.add(cells.use(0), word, add), expected[word])
        expected[word]! += add
        assert.deepEqual([...cells.use(0)], expected)
      }
    }),
    { numRuns: 200 },
  )
})

test('four slots of five can be had for certain', () => {
  const table = new SharedTable(createTable(8192))
  for (let i = 0; i < 6553; i++) assert.notEqual(table.cells(`key ${i}`), null, `key ${i}`)
})

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** A table of one slot, with the key that owns it. */
function useSlot() {
  const buffer = createTable(1)
  const table = new SharedTable(buffer)
  const path = table.path('a')
  const slot = table.locate(path)
  assert.equal(slot, 0)
  const marks = new Int32Array(buffer)
  return {
    table,
    path,
    /** The minute of the last use, counted from 1; -1 while the main thread gives the slot to another key. */
    get mark() {
      return marks[2]
    },
    set mark(value) {
      marks[2] = value ?? 0
    },
  }
}

test('the time of the last use never goes back', () => {
  const slot = useSlot()
  for (const [now, mark] of [
    [10 * MINUTE, 11],
    [9 * MINUTE, 11],
    [11 * MINUTE - 1, 11],
    [11 * MINUTE, 12],
  ] as const) {
    assert.equal(slot.table.touch(0, slot.path, now), true)
    assert.equal(slot.mark, mark)
  }
  assert.equal(slot.table.touch(0, slot.table.path('b'), 0), false)
})

test('a slot that is being given to another key cannot be used meanwhile', () => {
  const slot = useSlot()
  slot.mark = -1
  assert.equal(slot.table.touch(0, slot.path, 5 * MINUTE), false)
  assert.equal(slot.mark, -1)
})

test('a slot may go to another key after a day without use, not before, and not while it is kept', () => {
  const slot = useSlot()
  const other = slot.table.path('b')
  const reuse = (now: number, isKept = false) => slot.table.reuse(other, now, () => isKept)
  // The slot was never used: its day begins with the first look.
  assert.equal(reuse(5 * DAY), null)
  assert.equal(reuse(6 * DAY - MINUTE), null)
  assert.equal(reuse(6 * DAY, true), null)
  slot.table.words(0)[3] = 7n
  assert.equal(reuse(6 * DAY), 0)
  assert.deepEqual([...slot.table.words(0)], [0n, 0n, 0n, 0n, 0n, 0n])
  assert.deepEqual([slot.table.touch(0, slot.path, 6 * DAY), slot.table.touch(0, other, 6 * DAY)], [false, true])
  assert.equal(
    slot.table.reuse(slot.path, 7 * DAY - MINUTE, () => false),
    null,
  )
})

test('the size is a power of two', () => {
  assert.throws(() => createTable(1000), RangeError)
})

describe('threads that claim the same keys at once', () => {
  test('share one slot for each', async () => {
    const buffer = createTable(2048)
    const gate = new Int32Array(new SharedArrayBuffer(4))
    const keys = 1024
    const workers = [1, 3, 5, 1023].map((step) => startClaimer({ buffer, keys, step, gate }))
    await Promise.all(workers.map((worker) => once(worker, 'message')))
    const ended = workers.map((worker) => once(worker, 'exit'))
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
    await Promise.all(ended)
    const table = new SharedTable(buffer)
    for (let i = 0; i < keys; i++) assert.equal(table.cells(`key ${i}`)!.use(0)[0], 4n, `key ${i}`)
    assert.equal(usedSlots(buffer), keys)
  })

  test('and die on the way leave a table that works', async () => {
    const buffer = createTable(8192)
    const open = new Int32Array(new SharedArrayBuffer(4)).fill(1)
    const keys = 4096
    for (const step of [1, 3, 5, 7, 9]) {
      const worker = startClaimer({ buffer, keys, step, gate: open })
      await once(worker, 'message')
      await worker.terminate()
    }
    const last = startClaimer({ buffer, keys, step: 1, gate: open })
    await once(last, 'exit')
    const table = new SharedTable(buffer)
    for (let i = 0; i < keys; i++) {
      const count = table.cells(`key ${i}`)!.use(0)[0]!
      assert.ok(count >= 1n && count <= 6n, `key ${i}: ${count}`)
    }
    assert.equal(usedSlots(buffer), keys)
  })
})

function startClaimer(data: ClaimerData): Worker {
  return new Worker(new URL('./test-claimer.ts', import.meta.url), { workerData: data })
}

function usedSlots(buffer: SharedArrayBuffer): number {
  const words = new BigInt64Array(buffer)
  let used = 0
  // The last slot holds the salt.
  for (let at = 0; at < words.length - 8; at += 8) if (words[at] !== 0n) used++
  return used
}
