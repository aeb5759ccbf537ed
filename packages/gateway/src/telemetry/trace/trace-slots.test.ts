import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { Claiming } from '../../testing/workers/claiming-worker.ts'
import { eventually } from '../../testing/process.ts'
import { TraceSlots } from './trace-slots.ts'

const THREADS = 3
const SLOTS = 300_000

test('threads that claim at the same time never share a slot, and leave none', async (t) => {
  const shared = new SharedArrayBuffer(4 * (1 + SLOTS))
  const gate = new SharedArrayBuffer(8)
  const words = new Int32Array(gate)
  const memory = new TraceSlots(shared)
  for (let slot = 0; slot < SLOTS; slot++) memory.arm(slot, slot + 1)
  const workers = Array.from({ length: THREADS }, (_, number) => {
    const workerData: Claiming = { shared, slots: SLOTS, gate, number }
    const worker = new Worker(new URL('../../testing/workers/claiming-worker.ts', import.meta.url), { workerData })
    t.after(() => worker.terminate())
    return worker
  })
  const answers = workers.map((worker) => once(worker, 'message') as Promise<[number[]]>)
  await eventually('all wait', () => Atomics.load(words, 1) === THREADS)
  Atomics.store(words, 0, 1)
  Atomics.notify(words, 0)
  const claimed = (await Promise.all(answers)).map(([slots]) => slots)
  t.diagnostic(`claimed by each: ${claimed.map((slots) => slots.length).join(', ')}`)
  assert.equal(claimed.flat().length, SLOTS)
  for (const [worker, slots] of claimed.entries()) {
    assert.ok(slots.every((slot) => memory.isTakenBy(slot, worker)))
  }
})
