import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RouteRow, shownRows } from './route-rows.ts'

const row = (title: string, perSecond: number | null, more: Partial<RouteRow> = {}): RouteRow => ({
  key: title,
  listener: 'web',
  title,
  route: title,
  path: `/${title}…`,
  backends: 'shop',
  rate: perSecond === null ? null : { count: 1, perSecond, badShare: perSecond / 100, p95: 1000 / perSecond },
  ...more,
})
const ROWS = [row('r2', 5), row('r10', null), row('r1', 20), row('cart', 1, { backends: 'carts' })]
const titles = (search: string, by: Parameters<typeof shownRows>[2]['by'], isDown: boolean): string[] =>
  shownRows(ROWS, search, { by, isDown }).map(({ title }) => title)

test('routes are sorted by any column, those without requests last', () => {
  assert.deepEqual(titles('', 'perSecond', true), ['r1', 'r2', 'cart', 'r10'])
  assert.deepEqual(titles('', 'perSecond', false), ['cart', 'r2', 'r1', 'r10'])
  assert.deepEqual(titles('', 'p95', true), ['cart', 'r2', 'r1', 'r10'])
  assert.deepEqual(titles('', 'title', false), ['cart', 'r1', 'r2', 'r10'])
})

test('a search finds routes by name, path and backend, with every word', () => {
  assert.deepEqual(titles('CARTS', 'title', false), ['cart'])
  assert.deepEqual(titles('web /r1', 'title', false), ['r1', 'r10'])
  assert.deepEqual(titles('web nothing', 'title', false), [])
})
