import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { readMetrics } from '../../testing/otlp/otlp-metrics.ts'
import { until } from '../../testing/scene.ts'
import { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import { createRegion, Registry } from '../../telemetry/metrics/metrics.ts'
import type { Delivery } from '../../telemetry/otlp/retrying-sender.ts'
import { MetricsPush } from './metrics-push.ts'

const TAKEN: Delivery = { kind: 'taken', rejected: 0, message: '' }

function stand(deliver: (number: number) => Delivery | Promise<Delivery>) {
  const collector = new Collector()
  const region = createRegion()
  collector.attach('0', region)
  const registry = new Registry({ region, announce: (definition) => collector.define('0', definition) })
  const requests: Buffer[] = []
  const warnings: string[] = []
  const note = (text: string, fields?: object): void => void warnings.push(`${text} ${JSON.stringify(fields)}`)
  const push = new MetricsPush({
    collector,
    deliver: async (request) => deliver(requests.push(request)),
    log: { module: '', enabled: () => true, error: note, warn: note, info: note, debug: note, trace: note },
    startedAt: 1_000,
    clock: () => 61_000,
  })
  const metric = (name: string) => [...collector.read()].find((reading) => reading.name === name)?.points ?? []
  /** By labels. */
  const values = (name: string) =>
    Object.fromEntries(metric(name).map((point) => [point.values.join(), point.totals[0]]))
  return { collector, registry, requests, warnings, push, values }
}

test('pushes what there is at each interval, and once more at the end', async () => {
  const { push, registry, requests, values } = stand(() => TAKEN)
  const restarts = registry.counter('worker_restarts_total', [])
  restarts.inc(3)
  push.use({ intervalMs: 20, to: 'collector' })
  await until(() => requests.length >= 2)
  push.use({ intervalMs: 3_600_000, to: 'collector' })
  restarts.inc()
  await push.end()
  const seen = readMetrics(requests.at(-1) ?? Buffer.alloc(0))
  const counted = seen.find(({ name }) => name === 'portico_worker_restarts_total')
  assert.deepEqual([counted?.type, counted?.temporality, counted?.isMonotonic], ['sum', 2, true])
  assert.deepEqual(
    counted?.points.map(({ start, time, value }) => [start, time, value]),
    [[1_000_000_000n, 61_000_000_000n, 4]],
  )
  assert.equal(seen[0]?.resource['service.name'], 'portico')
  const points = seen.reduce((sum, each) => sum + each.points.length, 0)
  assert.equal(values('portico_otlp_exported_records_total')['metrics'], requests.length * points)
})

test('while one push is under way no other is begun', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const answer = Promise.withResolvers<Delivery>()
  const { push, requests } = stand((number) => (number === 1 ? answer.promise : TAKEN))
  push.use({ intervalMs: 1_000, to: 'collector' })
  for (let turn = 0; turn < 5; turn++) {
    t.mock.timers.tick(1_000)
    await setImmediate()
    assert.equal(requests.length, 1)
  }
  answer.resolve(TAKEN)
  await setImmediate()
  t.mock.timers.tick(1_000)
  await setImmediate()
  assert.equal(requests.length, 2)
  push.use(null)
})

test('many series go in several requests, each a megabyte at most', async () => {
  const { push, registry, requests } = stand(() => TAKEN)
  const label = 'x'.repeat(2_000)
  for (let i = 0; i < 2_000; i++) registry.counter('upstream_evictions_total', [`${i} ${label}`]).inc(i)
  push.use({ intervalMs: 3_600_000, to: 'collector' })
  await push.end()
  assert.ok(requests.length > 3)
  for (const { length } of requests) assert.ok(length < 1.1 * 1024 * 1024, `${length}`)
  const values = requests.flatMap(readMetrics).flatMap(({ name, points }) => {
    return name === 'portico_upstream_evictions_total' ? points.map(({ value }) => value) : []
  })
  assert.deepEqual(
    values,
    Array.from({ length: 2_000 }, (_, i) => i),
  )
})

test('a failed push is counted, and the next push has all values', async () => {
  const { push, registry, requests, values, warnings } = stand((number) =>
    number === 1 ? { kind: 'refused', cause: 'no' } : TAKEN,
  )
  registry.counter('worker_restarts_total', []).inc(7)
  push.use({ intervalMs: 20, to: 'collector' })
  await until(() => requests.length >= 2)
  push.use(null)
  const dropped = values('portico_otlp_dropped_records_total')['metrics,refused'] ?? 0
  assert.ok(dropped > 0)
  assert.match(warnings[0] ?? '', /telemetry is not exported .*"to":"collector","cause":"no"/)
  const [restarts] = readMetrics(requests[1] ?? Buffer.alloc(0))
    .filter(({ name }) => name === 'portico_worker_restarts_total')
    .flatMap(({ points }) => points.map(({ value }) => value))
  assert.equal(restarts, 7)
})

test('a collector that hangs keeps nobody from ending, and what it missed is told', async () => {
  const { push, requests, warnings } = stand(() => new Promise<Delivery>(() => {}))
  push.use({ intervalMs: 5, to: 'collector' })
  await until(() => requests.length === 1)
  await push.end()
  assert.match(warnings.at(-1) ?? '', /"cause":"the gateway ends"/)
})
