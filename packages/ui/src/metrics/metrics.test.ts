import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SeriesView, TrafficSeries, UsageRow } from '@portico/gateway/admin-api'
import { BOX, pathOf, stepAt, topOf } from './chart-shape.ts'
import { figuresOf } from './figures.ts'
import { readMetricsSearch } from './search.ts'
import { sumOf, type UsageGroup, usageLines, usageSource } from './usage-lines.ts'

const scale = { from: 0, to: 60_000, times: [30_000, 40_000, 50_000, 60_000], seconds: [10, 10, 10, 10] }

test('a line is level for each step, breaks where nothing was measured, and stays in its box', () => {
  assert.equal(pathOf([1, 2, null, 4], scale, 4), 'M200 90H300V60H400M500 0H600')
  assert.equal(pathOf([9, null, null, null], scale, 4), 'M200 0H300')
  assert.equal(pathOf([1], { ...scale, times: [5000] }, 1), 'M0 0H50')
  assert.equal(BOX.width, 600)
})

test('a chart of nothing has an upper edge all the same', () => {
  assert.equal(topOf([{ values: [0, null] }]), 1)
  assert.equal(topOf([{ values: [0.2, null] }, { values: [0.5] }]), 0.5)
})

test('a place belongs to the step that it is in', () => {
  assert.deepEqual(
    [0, 0.4, 0.99, 1].map((place) => stepAt(place, scale)),
    [null, 0, 3, 3],
  )
})

test('figures are rates and shares by step, and lead to the requests they are made of', () => {
  const figures = figuresOf(viewOf(['chat', 'unknown', 'a b', 'd', 'e', 'f']))
  const [requests, shares, , routes, tokens, calls] = figures
  assert.equal(figures.length, 6)
  assert.deepEqual(requests?.lines[0]?.values, [2, 0])
  assert.deepEqual(
    shares?.lines.map(({ values }) => values),
    [
      [0.5, null],
      [0.1, null],
    ],
  )
  assert.deepEqual(
    routes?.lines.map(({ name, filter }) => [name, filter]),
    [
      ['chat', 'route:chat since:3h'],
      ['no route', null],
      ['a b', 'route:"a b" since:3h'],
      ['d', 'route:d since:3h'],
      ['e', 'route:e since:3h'],
    ],
  )
  assert.equal(routes?.omitted, 3)
  assert.deepEqual(tokens?.lines[0]?.values, [30, 0])
  assert.deepEqual(calls?.lines[0]?.filter, 'model:large since:3h')
  assert.equal(figuresOf({ ...viewOf(['chat']), models: [] }).length, 4)
})

test('an address of any kind leads to a range that there is', () => {
  assert.deepEqual(
    ['3h', '24h', '15m', '1y', 3, null].map((range) => readMetricsSearch({ range })),
    [{ range: '3h' }, { range: '24h' }, {}, {}, {}, {}],
  )
  assert.deepEqual(readMetricsSearch({ range: '3h', by: 'key' }), { range: '3h', by: 'key' })
  assert.deepEqual(readMetricsSearch({ by: 'constructor' }), {})
})

describe('lines of usage', () => {
  const row = (model: string, rest: Partial<UsageRow>): UsageRow => ({
    ...{ provider: 'openai', providerName: '', backend: null, model, route: 'chat', key: null, calls: 2 },
    ...{
      input: 10,
      output: 5,
      cacheRead: 1,
      cacheWrite: 0,
      reasoning: 0,
      estimatedCalls: 0,
      silentCalls: 0,
      sizes: [],
    },
    ...rest,
  })
  const rows = [
    row('small', { key: 'a', silentCalls: 1 }),
    row('small', { key: 'b', providerName: 'spare' }),
    row('large', { key: 'b', input: 100, estimatedCalls: 2 }),
    row('small', { key: 'b' }),
  ]

  test('are rows put together, the most tokens first, and their sums agree', () => {
    const names = (by: UsageGroup | null) =>
      usageLines(rows, by).map(({ model, key, route, rows: own }) => [model, key, route, own.length])
    assert.deepEqual(names('model'), [
      ['large', undefined, undefined, 1],
      ['small', undefined, undefined, 3],
    ])
    assert.deepEqual(names('key'), [
      [undefined, 'b', undefined, 3],
      [undefined, 'a', undefined, 1],
    ])
    assert.deepEqual(names('route'), [[undefined, undefined, 'chat', 4]])
    assert.deepEqual(names(null), [
      ['large', 'b', 'chat', 1],
      ['small', 'b', 'chat', 2],
      ['small', 'a', 'chat', 1],
    ])
    const whole = sumOf(rows)
    for (const by of [null, 'model', 'key', 'route'] as const)
      for (const field of ['calls', 'input', 'output', 'silentCalls'] as const)
        assert.equal(
          usageLines(rows, by).reduce((sum, line) => sum + line[field], 0),
          whole[field],
        )
  })

  test('say who counted', () => {
    assert.deepEqual(usageLines(rows, null).map(usageSource), [
      'counted by the gateway',
      'reported by the provider',
      '1 of 2 without figures',
    ])
    assert.equal(usageSource(sumOf(rows)), '2 of 8 counted by the gateway, 1 of 8 without figures')
  })
})

function viewOf(routes: readonly string[]): SeriesView {
  const traffic = (name: string): TrafficSeries => ({
    ...{ name, requests: [20, 0], failed: [2, 0], refused: [10, 0] },
    ...{ p50: [0.1, null], p95: [0.2, null], p99: [0.3, null] },
  })
  return {
    ...{ range: '3h', now: 60_000, since: 0, times: [10_000, 20_000], seconds: [10, 10] },
    total: traffic(''),
    routes: routes.map(traffic),
    models: [
      {
        ...{ provider: 'mock', model: 'large', calls: [3, 0], input: [100, 0], output: [200, 0] },
        ...{ cacheRead: [0, 0], cacheWrite: [0, 0], p95: [0.1, null] },
      },
    ],
    omitted: { routes: 2, models: 0 },
  }
}
