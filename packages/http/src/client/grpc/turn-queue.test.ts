import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnQueue } from './turn-queue.ts'

test('reactions to promises that a task settled run before the next task', async () => {
  const seen: string[] = []
  const queue = new TurnQueue(assert.ifError)
  const first = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const used = (async () => {
    await first.promise
    seen.push('first used')
  })()
  queue.add(() => {
    seen.push('first')
    first.resolve()
  })
  queue.add(() => seen.push('second'))
  queue.add(() => done.resolve())
  assert.deepEqual(seen, ['first'])
  await done.promise
  await used
  assert.deepEqual(seen, ['first', 'first used', 'second'])
})

test('a task that throws is reported, and the next one runs; one that is dropped does not', async () => {
  const seen: unknown[] = []
  const queue = new TurnQueue((error) => seen.push(error))
  const error = new Error('thrown')
  assert.throws(() => queue.add(() => assert.fail(error)), error)
  queue.add(() => assert.fail(error))
  await new Promise<void>((resolve) => queue.add(resolve))
  assert.deepEqual(seen, [error])
  await new Promise((resolve) => setImmediate(resolve))
  const run: string[] = []
  queue.add(() => run.push('last'))
  queue.add(() => run.push('dropped'))
  queue.close()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(run, ['last'])
})
