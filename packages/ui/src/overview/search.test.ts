import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printOrder, readOrder, readOverviewSearch } from './search.ts'

test('an address holds view, search, order and open groups; what does not fit is left out', () => {
  assert.deepEqual(readOverviewSearch({ view: 'map', find: 5, sort: '-p95', open: ['a', 1] }), {
    ...{ view: 'map', find: '5', sort: '-p95', open: ['a'] },
  })
  assert.deepEqual(readOverviewSearch({ view: 'pie', find: '', sort: 'colour', open: 'a' }), {})
})

test('an order is read as it was printed', () => {
  for (const text of ['-perSecond', 'title']) {
    const order = readOrder(text)
    assert.ok(order !== null)
    assert.equal(printOrder(order), text)
  }
  assert.equal(readOrder('--title'), null)
})
