import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

test('a thread gives back what it had taken', { timeout: 60_000 }, async () => {
  const code = `
    const { parentPort } = require('node:worker_threads')
    const { getHeapStatistics } = require('node:v8')
    import(${JSON.stringify(new URL('./idle-memory.ts', import.meta.url).href)}).then(({ releaseMemoryWhenIdle }) => {
      let kept = []
      for (let i = 0; i < 300_000; i++) kept.push({ i })
      const taken = getHeapStatistics().total_heap_size
      kept = null
      releaseMemoryWhenIdle()
      const wait = setInterval(() => {
        const left = getHeapStatistics().total_heap_size
        if (left > taken / 2) return
        clearInterval(wait)
        parentPort.postMessage({ taken, left, isHidden: typeof gc === 'undefined' })
      }, 100)
    })`
  const worker = new Worker(code, { eval: true })
  const [{ taken, left, isHidden }] = (await once(worker, 'message')) as [
    { taken: number; left: number; isHidden: boolean },
  ]
  assert.ok(left < taken / 2)
  assert.ok(isHidden)
  await worker.terminate()
})

test('a thread is not harmed by others that give memory back at the same moment', { timeout: 120_000 }, async (t) => {
  // Other code changes the V8 flags of the process often enough to interfere.
  const others = `
    const { setFlagsFromString } = require('node:v8')
    for (;;) for (const flag of ['--expose-gc', '--no-expose-gc']) setFlagsFromString(flag)`
  const code = `
    const { parentPort } = require('node:worker_threads')
    import(${JSON.stringify(new URL('./idle-memory.ts', import.meta.url).href)}).then(({ releaseMemory }) => {
      const results = new Set()
      for (let times = 0; times < 1000 && results.size < 2; times++) results.add(releaseMemory())
      parentPort.postMessage([...results].toSorted())
    })`
  const [meddler, worker] = [others, code].map((text) => new Worker(text, { eval: true }))
  t.after(() => Promise.all([meddler?.terminate(), worker?.terminate()]))
  assert.ok(worker !== undefined)
  // Fails with what the thread died of.
  assert.deepEqual(await once(worker, 'message'), [[false, true]])
})
