import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Collector } from '../metrics/metrics-collect.ts'
import { createRegion, Registry } from '../metrics/metrics.ts'
import { MetricHistory } from './metric-history.ts'
import { percentile } from './percentile.ts'
import { PointRing } from './point-ring.ts'

function setUp() {
  const collector = new Collector()
  const region = createRegion()
  collector.attach('w', region)
  const registry = new Registry({ region, announce: (definition) => collector.define('w', definition) })
  const clock = { now: 1_000_000 }
  const history = new MetricHistory(collector, () => clock.now)
  const tick = (ms = 5000): void => {
    clock.now += ms
    history.look()
  }
  const took = (route: string, status: string, seconds: number, reason = 'Upstream'): void =>
    registry
      .histogram('request_duration_seconds', ['b', 'http', 'GET', status, reason, 'bind', 'gw', 'web', route])
      .observe(seconds)
  const model = ['chat', 'openai', 'gpt-4o', 'gpt-4o-2024-08-06', 'bind', 'gw', 'web', 'chat'] as const
  const tokens = (type: string, count: number): void =>
    registry.histogram('gen_ai_client_token_usage', [type, ...model]).observe(count)
  return { collector, registry, history, clock, tick, took, tokens, model }
}

describe('history of the counters', () => {
  it('has for each step what came in it, by route, with percentiles from buckets', () => {
    const { history, tick, took } = setUp()
    for (let i = 0; i < 99; i++) took('api', '200', 0.003)
    took('api', '503', 8)
    took('admin', '403', 0.0005, 'Authorization')
    tick()
    took('api', '200', 0.003)
    tick()
    tick()
    const { times, seconds, total, routes, omitted } = history.view('15m')
    assert.deepEqual(times, [1_005_000, 1_010_000, 1_015_000])
    assert.deepEqual(seconds, [5, 5, 5])
    assert.deepEqual(
      [total.requests, total.failed, total.refused],
      [
        [101, 1, 0],
        [1, 0, 0],
        [1, 0, 0],
      ],
    )
    assert.deepEqual(
      routes.map(({ name, requests }) => [name, requests]),
      [
        ['api', [100, 1, 0]],
        ['admin', [1, 0, 0]],
      ],
    )
    const [api] = routes
    assert.ok((api?.p50[0] ?? 0) > 0.001 && (api?.p50[0] ?? 0) < 0.005)
    assert.equal(api?.p99[0], 0.005)
    assert.equal(api?.p95[2], null)
    assert.deepEqual(omitted, { routes: 0, models: 0 })
  })

  it('longer ranges have longer steps, and what the open one has so far', () => {
    const { history, tick, took } = setUp()
    for (let i = 0; i < 8; i++) {
      took('api', '200', 0.003)
      tick()
    }
    const { times, seconds, total } = history.view('3h')
    assert.deepEqual(times, [1_030_000, 1_040_000])
    assert.deepEqual(seconds, [30, 10])
    assert.deepEqual(total.requests, [6, 2])
    assert.deepEqual(history.view('24h').total.requests, [8])
  })

  it('counts tokens by the model that answered; a worker that dies takes nothing with it', () => {
    const { history, registry, collector, tick, tokens, model } = setUp()
    registry.histogram('gen_ai_server_request_duration', model).observe(0.5)
    tokens('input', 100)
    tokens('input_cache_read', 40)
    tokens('output', 20)
    tick()
    collector.retire('w')
    tick()
    const [only] = history.view('15m').models
    assert.deepEqual([only?.provider, only?.model], ['openai', 'gpt-4o-2024-08-06'])
    assert.deepEqual(
      [only?.calls, only?.input, only?.output, only?.cacheRead],
      [
        [1, 0],
        [100, 0],
        [20, 0],
        [40, 0],
      ],
    )
  })

  it('has room for so many names, and counts all others as one; nothing is counted twice', () => {
    const { history, tick, took } = setUp()
    for (let i = 0; i < 200; i++) took(`r${i}`, '200', 0.003)
    tick()
    for (let i = 0; i < 200; i++) took(`r${i}`, '200', 0.003)
    tick()
    const { routes, total, omitted } = history.view('15m')
    assert.deepEqual(total.requests, [200, 200])
    assert.equal(routes[0]?.name, 'other')
    assert.deepEqual(routes[0]?.requests, [150, 150])
    assert.equal(routes.length + omitted.routes, 51)
  })

  it('keeps no more than its steps, and a clock that is put back ends none', () => {
    const { history, tick, took, clock } = setUp()
    took('api', '200', 0.003)
    for (let i = 0; i < 200; i++) tick()
    assert.equal(history.view('15m').times.length, 180)
    clock.now -= 60_000
    history.look()
    assert.equal(history.view('15m').times.length, 180)
  })
})

it('a percentile lies within its bucket', () => {
  const bounds = [1, 2, 4, 8]
  assert.equal(percentile([0, 0, 0, 0, 0], bounds, 0.5), null)
  assert.equal(percentile([0, 0, 0, 0, 3], bounds, 0.5), 8)
  fc.assert(
    fc.property(
      fc.array(fc.nat(50), { minLength: 5, maxLength: 5 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (counts, share) => {
        const found = percentile(counts, bounds, share)
        if (found === null) return assert.ok(counts.every((count) => count === 0))
        assert.ok(found >= 0 && found <= 8)
      },
    ),
  )
})

it('a ring has the last of what came', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 40 }), (values, most) => {
      const ring = new PointRing(1, most)
      for (const value of values) ring.push([value])
      assert.deepEqual(ring.last(0, most), values.slice(-most))
    }),
  )
})
