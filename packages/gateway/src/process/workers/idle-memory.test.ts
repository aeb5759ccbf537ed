import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { IdleMemory } from './idle-memory.ts'

const MB = 2 ** 20

function useMemory(number = 0) {
  const state = { busy: 0, bytes: 30 * MB, releases: 0, mayRelease: true }
  const memory = new IdleMemory({
    busyShare: () => state.busy,
    heapBytes: () => state.bytes,
    number,
    release() {
      if (!state.mayRelease) return false
      state.releases++
      state.bytes = 10 * MB
      return true
    },
  })
  const look = (times: number): number => {
    for (let i = 0; i < times; i++) memory.look()
    return state.releases
  }
  return { state, look }
}

test('memory is given back soon after a start, and later after work', () => {
  const { state, look } = useMemory()
  assert.equal(look(1), 1)
  Object.assign(state, { busy: 0.5, bytes: 60 * MB })
  assert.equal(look(100), 1)
  state.busy = 0.01
  assert.equal(look(6), 1)
  assert.equal(look(1), 2)
})

test('work that comes right after a start is work', () => {
  const { state, look } = useMemory()
  state.busy = 0.5
  look(11)
  state.busy = 0
  assert.equal(look(6), 0)
  assert.equal(look(1), 1)
})

test('threads that fall idle together take turns', () => {
  const releasedAfter = [0, 1, 2, 3, 4].map((number) => {
    const { state, look } = useMemory(number)
    look(1)
    state.bytes = 60 * MB
    let seconds = 0
    while (look(1) === 1) seconds++
    return seconds + 1
  })
  assert.deepEqual(releasedAfter, [7, 8, 9, 7, 8])
})

test('work in between begins the wait anew', () => {
  const { state, look } = useMemory()
  look(1)
  state.bytes = 60 * MB
  for (let i = 0; i < 20; i++) {
    state.busy = 0
    look(4)
    state.busy = 0.2
    look(1)
  }
  assert.equal(state.releases, 1)
})

test('a heap that has hardly grown is left alone', () => {
  const { state, look } = useMemory()
  look(1)
  state.bytes += 3 * MB
  assert.equal(look(100), 1)
  state.bytes += 2 * MB
  assert.equal(look(100), 2)
})

test('memory that could not be released now is released a second later', () => {
  const { state, look } = useMemory()
  state.mayRelease = false
  assert.equal(look(3), 0)
  state.mayRelease = true
  assert.equal(look(1), 1)
})

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
