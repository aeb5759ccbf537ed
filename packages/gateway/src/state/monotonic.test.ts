import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { monotonic } from './monotonic.ts'

const LOOK = `
import { parentPort } from 'node:worker_threads'
import { monotonic } from ${JSON.stringify(new URL('./monotonic.ts', import.meta.url).href)}
parentPort.postMessage(monotonic() - Number(process.hrtime.bigint()) / 1e6)
`

test('threads that began at other times have the same clock', async () => {
  const looks = await Promise.all(Array.from({ length: 3 }, () => differenceInThread()))
  for (const difference of looks) assert.ok(Math.abs(difference) < MOST_MS, `${difference} ms`)
})

test('the clock never goes back', () => {
  let last = monotonic()
  for (let look = 0; look < 10_000; look++) {
    const now = monotonic()
    assert.ok(now >= last)
    last = now
  }
})

async function differenceInThread(): Promise<number> {
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(LOOK)}`))
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  worker.once('message', resolve).once('error', reject)
  const difference = await promise
  await worker.terminate()
  return difference
}

/** A thread may be suspended between its two readings; a clock with another origin would be off by far more. */
const MOST_MS = 20
