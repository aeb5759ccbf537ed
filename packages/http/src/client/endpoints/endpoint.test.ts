import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createTable, SharedTable } from '../../../../gateway/src/state/shared-table.ts'
import { Endpoint } from './endpoint.ts'
import { Endpoints, type Eviction } from './endpoints.ts'

const rule = { durationMs: 1000, restoreHealth: null, consecutiveFailures: 0, healthThreshold: null }
const owner = { key: 'backend/app', name: 'app', health: { eviction: rule } }

function setUp(buffer = createTable(64)) {
  const clock = { now: 1000 }
  const evictions: Eviction[] = []
  const endpoints = new Endpoints({
    counters: new SharedTable(buffer),
    random: () => 0,
    monotonic: () => clock.now,
    evicted: (eviction) => evictions.push(eviction),
  })
  return { clock, evictions, endpoints }
}

test('latency is the moving average of healthy answers, the first one taken whole', () => {
  const endpoint = new Endpoint('a:1', null)
  assert.equal(endpoint.standing(0, null, false).latency, 0)
  endpoint.wasHealthy(0, null, 100)
  assert.equal(endpoint.standing(0, null, false).latency, 0.1)
  endpoint.wasHealthy(0, null, 200)
  assert.equal(endpoint.standing(0, null, false).latency, 0.13)
  endpoint.wasUnhealthy(0, null)
  assert.equal(endpoint.standing(0, null, false).latency, 0.13)
})

test('two workers share the score of an endpoint under a health policy', () => {
  const buffer = createTable(64)
  const [one, other] = [setUp(buffer), setUp(buffer)]
  one.endpoints.lease(owner, one.endpoints.get(owner, '127.0.0.1:80')).failed()
  const standing = other.endpoints.get(owner, '127.0.0.1:80').standing(1000, rule, false)
  assert.deepEqual([standing.evicted, standing.health], [true, 0.7])
  assert.equal(other.endpoints.get(owner, '127.0.0.2:80').standing(1000, rule, false).evicted, false)
  const another = { ...owner, key: 'backend/other' }
  assert.equal(other.endpoints.get(another, '127.0.0.1:80').standing(1000, rule, false).evicted, false)
})

test('without a health policy each worker has its own score', () => {
  const buffer = createTable(64)
  const plain = { ...owner, health: null }
  const [one, other] = [setUp(buffer), setUp(buffer)]
  one.endpoints.lease(plain, one.endpoints.get(plain, '127.0.0.1:80')).failed()
  assert.equal(one.endpoints.get(plain, '127.0.0.1:80').standing(1000, null, false).health, 0.7)
  assert.equal(other.endpoints.get(plain, '127.0.0.1:80').standing(1000, null, false).health, 1)
})

test('a worker keeps the score itself when the shared table is full', () => {
  const table = new SharedTable(createTable(1))
  table.cells('something else')
  const endpoints = new Endpoints({ counters: table, random: () => 0, monotonic: () => 1000, evicted() {} })
  endpoints.lease(owner, endpoints.get(owner, '127.0.0.1:80')).failed()
  assert.equal(endpoints.get(owner, '127.0.0.1:80').standing(1000, rule, false).evicted, true)
})

test('an eviction is told once, with its length and number', () => {
  const { endpoints, evictions, clock } = setUp()
  const endpoint = endpoints.get(owner, '127.0.0.1:80')
  const visits = [1, 2, 3].map(() => endpoints.lease(owner, endpoint))
  assert.equal(endpoint.pending, 3)
  for (const lease of visits) lease.failed()
  assert.equal(endpoint.pending, 0)
  assert.deepEqual(evictions, [{ backend: 'app', endpoint: '127.0.0.1:80', durationMs: 1000, times: 1 }])
  clock.now += 1008
  endpoints.lease(owner, endpoint).failed()
  assert.equal(evictions[1]!.times, 2)
})

test('a call counts one response, whatever comes after it', () => {
  const { endpoints, evictions } = setUp()
  const endpoint = endpoints.get(owner, '127.0.0.1:80')
  const healthOf = (): number => endpoint.standing(1000, rule, false).health
  const unanswered = endpoints.lease(owner, endpoint)
  unanswered.ended()
  unanswered.failed()
  assert.deepEqual([endpoint.pending, healthOf(), evictions.length], [0, 1, 0])
  const broken = endpoints.lease(owner, endpoint)
  broken.answered(false)
  assert.equal(endpoint.pending, 1)
  broken.failed()
  broken.ended()
  assert.deepEqual([endpoint.pending, healthOf(), evictions.length], [0, 0.7, 1])
})

test('a healthy answer counts when it has ended, a connection when it is made', () => {
  const { endpoints, clock } = setUp()
  const endpoint = endpoints.get(owner, '127.0.0.1:80')
  const latencyOf = (): number => endpoint.standing(clock.now, rule, false).latency
  const lease = endpoints.lease(owner, endpoint)
  clock.now += 20
  lease.answered(false)
  clock.now += 500
  assert.equal(latencyOf(), 0)
  lease.ended()
  assert.equal(latencyOf(), 0.02)
  const connection = endpoints.lease(owner, endpoint)
  clock.now += 40
  connection.connected()
  assert.equal(latencyOf(), 0.026)
  assert.equal(endpoint.pending, 1)
  connection.ended()
  assert.deepEqual([latencyOf(), endpoint.pending], [0.026, 0])
})

test('exactly one of the threads that report the same failure at once evicts the endpoint', async () => {
  const buffer = createTable(64)
  const reports = 20_000
  const run = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./test-thread.ts', import.meta.url), { workerData: { buffer, reports } })
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  const evictions = await Promise.all([run(), run(), run()])
  assert.equal(
    evictions.reduce((sum, count) => sum + count, 0),
    reports,
  )
})

test('the only endpoint that is not evicted is found among very many', () => {
  const { endpoints } = setUp(createTable(1024))
  const watcher = { hops: '', connectingTo: () => {} }
  const ways = Array.from({ length: 300 }, (_, index) => ({ endpoint: endpoints.get(owner, `10.0.0.${index}:80`) }))
  for (const { endpoint } of ways.slice(0, -1)) endpoints.lease(owner, endpoint).failed()
  for (let i = 0; i < 20; i++) assert.equal(endpoints.choose(owner, ways, watcher), ways.at(-1))
  endpoints.lease(owner, ways.at(-1)!.endpoint).failed()
  assert.ok(ways.includes(endpoints.choose(owner, ways, watcher)))
})
