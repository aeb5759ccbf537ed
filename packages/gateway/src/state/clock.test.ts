import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createTimestamp, monotonic, WallTime } from './clock.ts'

const LOOK = `
import { parentPort } from 'node:worker_threads'
import { monotonic } from ${JSON.stringify(new URL('./clock.ts', import.meta.url).href)}
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

test('moments have times of day, and a clock that is set anew is followed within a second', () => {
  let day = 1_000_000
  let looks = 0
  const times = new WallTime(() => {
    looks++
    return day
  })
  assert.equal(times.of(40, 50), 999_990)
  day += 900
  assert.equal(times.of(945, 950), 1_000_895)
  assert.equal(looks, 1)
  day = 5_000_000
  assert.equal(times.of(1000, 1050), 4_999_950)
  assert.equal(looks, 2)
})

test('timestamps follow the clock to the millisecond, over the end of a second and back', () => {
  let now = 0
  const timestamp = createTimestamp(() => now)
  const at = (time: number): string => {
    now = time
    return timestamp()
  }
  const texts = [1_700_000_000_123, 1_700_000_000_007.9, 1_700_000_001_000, 1_699_999_999_999].map(at)
  assert.deepEqual(texts, [
    '2023-11-14T22:13:20.123000Z',
    '2023-11-14T22:13:20.007000Z',
    '2023-11-14T22:13:21.000000Z',
    '2023-11-14T22:13:19.999000Z',
  ])
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
