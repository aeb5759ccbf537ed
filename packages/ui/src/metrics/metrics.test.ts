import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeriesView, TrafficSeries } from '@portico/gateway/admin-api'
import { BOX, pathOf, stepAt, topOf } from './chart-shape.ts'
import { figuresOf } from './figures.ts'
import { readMetricsSearch } from './search.ts'

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
