import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordFollowers } from './record-followers.ts'
import type { RequestBatch } from './record.ts'
import { RecordStore } from './record-store.ts'
import { Recorder, type RecorderMemory } from './recorder.ts'
import { createRedaction } from '../../redaction/request-redaction.ts'
import { RingWriter } from './ring.ts'

const SIZES = { passed: 64 * 1024, notable: 64 * 1024 }

/** A worker that records what it is told. */
function worker(
  store: RecordStore,
  name: string,
  clock: () => number,
): { record(code: string): void; memory: RecorderMemory } {
  const memory = store.memoryFor(name) ?? assert.fail('no memory')
  const recorder = new Recorder(clock)
  recorder.attach(memory)
  recorder.use({ slowMs: 1000, isSampled: null, redaction: createRedaction(new Set()), generation: 1 }, 0)
  return { memory, record: (code) => recorder.malformed({ source: '127.0.0.1:1', sni: '' }, 400, code) }
}

function useStore() {
  const store = new RecordStore()
  store.resize(SIZES)
  let now = 1000
  const start = (name: string) => worker(store, name, () => now++)
  const errors = (): (string | null)[] => store.all().map((stored) => stored.decode()?.error ?? null)
  return { store, start, errors }
}

test('the records of a worker stay when it dies, and the next worker of its name has its own memory', () => {
  const { store, start, errors } = useStore()
  const first = start('worker-0')
  first.record('one')
  first.record('two')
  // It dies in the middle of a third one.
  new RingWriter(first.memory.notable).reserve(200)
  store.died('worker-0')
  const second = start('worker-0')
  second.record('three')
  assert.notEqual(second.memory.notable, first.memory.notable)
  assert.deepEqual(errors(), ['three', 'two', 'one'])
  const ids = store.all().map(({ id }) => id)
  assert.equal(new Set(ids).size, 3)
  assert.equal(store.find(ids[2] ?? '')?.error, 'one')
})

test('workers that die again and again keep the newest records, in bounded memory', () => {
  const { store, start, errors } = useStore()
  for (let life = 0; life < 10; life++) {
    start('worker-0').record(`life ${life}`)
    store.died('worker-0')
  }
  assert.deepEqual(errors(), ['life 9', 'life 8', 'life 7', 'life 6'])
  assert.equal(store.use.maxBytes, 4 * (SIZES.passed + SIZES.notable))
})

test('a follower gets every record once, even if a worker dies', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { store, start } = useStore()
  const first = start('worker-0')
  first.record('before')
  const batches: RequestBatch[] = []
  const leave = new RecordFollowers(store).follow({ matches: () => true, told: (batch) => batches.push(batch) })
  first.record('one')
  t.mock.timers.tick(100)
  first.record('two')
  store.died('worker-0')
  const second = start('worker-0')
  second.record('three')
  t.mock.timers.tick(100)
  t.mock.timers.tick(100)
  leave?.()
  assert.deepEqual(
    batches.map(({ requests }) => requests.map(({ error }) => error)),
    [['one'], ['two', 'three']],
  )
})

test('a follower without a filter gets the newest records and the number of omitted ones, like a follower with a filter', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { store, start } = useStore()
  const worker = start('worker-0')
  const followers = new RecordFollowers(store)
  const [everything, something]: RequestBatch[][] = [[], []]
  followers.follow({ matches: null, told: (batch) => everything?.push(batch) })
  const leave = followers.follow({ matches: () => true, told: (batch) => something?.push(batch) })
  for (let count = 0; count < 120; count++) worker.record(String(count))
  t.mock.timers.tick(100)
  leave?.()
  assert.deepEqual(everything, something)
  assert.deepEqual(
    everything?.map(({ requests, omitted }) => [requests.length, requests.at(-1)?.error, omitted]),
    [[100, '119', 20]],
  )
})
