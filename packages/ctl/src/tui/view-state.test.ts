import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { layoutFor, rowsIn } from './layout.ts'
import { type Extent, firstRow, firstView, move, type Move, showMode, switchPane } from './view-state.ts'

const extent: Extent = { events: 30, listRows: 10, detailLines: 50, detailRows: 20 }

test('moves select in the list and scroll in the detail', () => {
  const down = move(firstView, 'down', extent)
  assert.equal(down.selected, 1)
  assert.equal(move(down, 'pageDown', extent).selected, 11)
  assert.equal(move(down, 'end', extent).selected, 29)
  assert.equal(move(down, 'pageUp', extent).selected, 0)
  const detail = switchPane(down)
  assert.equal(move(detail, 'down', extent).top, 1)
  assert.equal(move(detail, 'end', extent).top, 30)
  assert.equal(move(detail, 'down', extent).selected, 1)
  assert.equal(move(detail, 'right', extent).left, 8)
  assert.equal(move(detail, 'left', extent).left, 0)
})

test('another event or mode is shown from its beginning', () => {
  const scrolled = { ...firstView, top: 5, left: 8 }
  assert.deepEqual(move(scrolled, 'down', extent), { ...firstView, selected: 1 })
  assert.deepEqual(showMode(scrolled, 'diff'), { ...firstView, mode: 'diff' })
  assert.equal(move(scrolled, 'up', extent), scrolled)
})

test('moves stay within the content, also when it shrinks', () => {
  const moves = fc.constantFrom<Move>('up', 'down', 'pageUp', 'pageDown', 'home', 'end', 'left', 'right')
  const count = fc.nat(60)
  const extents = fc.record({ events: count, listRows: count, detailLines: count, detailRows: count })
  const steps = fc.array(fc.oneof(moves, fc.constant('tab' as const)))
  fc.assert(
    fc.property(steps, extents, (steps, extent) => {
      let view = firstView
      for (const step of steps) view = step === 'tab' ? switchPane(view) : move(view, step, extent)
      assert.ok(view.selected >= 0 && view.selected <= Math.max(0, extent.events - 1))
      assert.ok(view.top >= 0 && view.top <= Math.max(0, extent.detailLines - extent.detailRows))
      assert.ok(view.left >= 0)
    }),
  )
})

test('the selected row is always shown', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 50 }), fc.nat(), (count, rows, any) => {
      const selected = any % count
      const first = firstRow(selected, count, rows)
      assert.ok(first >= 0 && first <= selected && selected < first + rows)
    }),
  )
})

test('panes fill every terminal that is large enough, and have room for a row', () => {
  assert.equal(layoutFor({ columns: 39, rows: 40 }), null)
  assert.equal(layoutFor({ columns: 120, rows: 11 }), null)
  fc.assert(
    fc.property(fc.integer({ min: 40, max: 300 }), fc.integer({ min: 12, max: 100 }), (columns, rows) => {
      const { direction, list, detail } = layoutFor({ columns, rows })!
      const isRow = direction === 'row'
      assert.equal(isRow ? list.width + detail.width : list.width, columns)
      assert.equal((isRow ? list.height : list.height + detail.height) + 3, rows)
      assert.ok(rowsIn(list) >= 1 && rowsIn(detail) >= 1)
    }),
  )
})
