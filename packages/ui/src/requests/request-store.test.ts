import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestSummary } from '@portico/gateway/admin-api'
import { MOST_ROWS, RequestStore } from './request-store.ts'

const request = (id: string): RequestSummary => ({ id }) as RequestSummary
const ids = (store: RequestStore): string =>
  store
    .snapshot()
    .rows.map(({ id }) => id)
    .join('')

test('history stands below what happens now, and nothing stands there twice', () => {
  const store = new RequestStore()
  let told = 0
  store.subscribe(() => told++)
  store.append([request('c'), request('b')], 'x')
  store.take([request('b'), request('c'), request('d'), request('e')], 3)
  store.append([request('b'), request('a')], null)
  assert.equal(ids(store), 'edcba')
  const { added, omitted, next } = store.snapshot()
  assert.deepEqual([added, omitted, next, told], [2, 3, null, 3])
  store.take([request('e')], 0)
  assert.equal(told, 3, 'nothing new is no change')
  store.reset()
  assert.deepEqual(store.snapshot(), { rows: [], added: 0, omitted: 0, next: null })
})

test('rows are bounded: the oldest go', () => {
  const store = new RequestStore()
  for (let page = 0; page < 25; page++)
    store.take(
      Array.from({ length: 500 }, (_, i) => request(`${page}/${i}`)),
      0,
    )
  const { rows, added } = store.snapshot()
  assert.deepEqual([rows.length, added, rows[0]?.id, rows.at(-1)?.id], [MOST_ROWS, 12_500, '24/499', '5/0'])
  store.append([request('older')], 'more')
  assert.deepEqual([store.snapshot().rows.length, store.snapshot().next], [MOST_ROWS, null])
})
