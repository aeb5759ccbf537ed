import { screen, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { showPart } from '../testing/render.tsx'
import { sampleRequest } from '../testing/samples.ts'
import { REQUEST_COLUMNS, type RequestColumn } from './columns.tsx'
import { RequestTable } from './table.tsx'

const NOTHING = { cursor: null, openId: null, onOpen: () => {}, onEnd: () => {} }
const listed = (rows: readonly ReturnType<typeof sampleRequest>[]) => ({ rows, added: 0, omitted: 0, next: null })
const cellsOf = (row: HTMLElement) =>
  within(row)
    .getAllByRole('cell')
    .map(({ textContent }) => textContent)

describe('the table of requests', () => {
  test('header, cells and grid have the same columns', async (t) => {
    await showPart(t, <RequestTable shown={listed([sampleRequest()])} {...NOTHING} />)
    const headers = screen.getAllByRole('columnheader').map(({ textContent }) => textContent)
    const [, row] = screen.getAllByRole('row')
    assert.ok(row !== undefined)
    const cells = cellsOf(row)
    assert.deepEqual(headers, ['Time', 'Outcome', 'Method', 'Host and path', 'Route', 'Backend', 'Took', 'Decided by'])
    assert.deepEqual(cells, [
      ...['12:00:00', '200 ', 'GET', 'shop.example.com/orders?page=2', 'orders', 'shop', '2.4 ms', ''],
    ])
    const grid = screen.getByRole('table').style.getPropertyValue('--request-grid')
    assert.equal(grid.replaceAll(/\([^)]*\)/g, '').split(' ').length, REQUEST_COLUMNS.length)
  })

  test('a column without a width does not compile', () => {
    // @ts-expect-error: `width` is missing
    const column: RequestColumn = {
      name: 'a',
      header: 'A',
      align: 'start',
      font: 'text',
      narrowArea: null,
      cell: () => '',
      tooltip: null,
    }
    assert.equal(column.width, undefined)
  })

  test('a missing value has a dash, and a connection has its protocol in place of a method', async (t) => {
    const bare = { method: null, host: null, path: null, route: null, backend: null, status: 0, protocol: 'tcp' }
    await showPart(t, <RequestTable shown={listed([sampleRequest(bare)])} {...NOTHING} />)
    const [, row] = screen.getAllByRole('row')
    assert.ok(row !== undefined)
    assert.deepEqual(cellsOf(row), ['12:00:00', '— ', 'tcp', '', '–', '–', '2.4 ms', ''])
  })

  test('why a request was denied is whole in the tooltip', async (t) => {
    const headline = `no rule allows ${'x'.repeat(300)}`
    const denied = sampleRequest({ status: 403, outcome: 'denied', headline })
    await showPart(t, <RequestTable shown={listed([denied])} {...NOTHING} />)
    assert.ok(screen.getByTitle(`No rule allows ${'x'.repeat(300)}`))
    assert.ok(screen.getByText(/denied/))
  })

  test('only rows in sight are drawn of ten thousand, and all are counted', async (t) => {
    const rows = Array.from({ length: 10_000 }, (_, index) => sampleRequest({ id: `r${index}` }))
    await showPart(t, <RequestTable shown={listed(rows)} {...NOTHING} />)
    assert.equal(screen.getByRole('table').getAttribute('aria-rowcount'), '10001')
    assert.ok(screen.getAllByRole('row').length < 100)
  })

  test('a click anywhere on a row opens its request, once', async (t) => {
    const opened: string[] = []
    const rows = [sampleRequest(), sampleRequest({ id: 'r2', path: '/second' })]
    const { user } = await showPart(
      t,
      <RequestTable shown={listed(rows)} {...NOTHING} onOpen={(id) => opened.push(id)} />,
    )
    await user.click(screen.getByText('/second'))
    await user.click(screen.getAllByText('orders')[0]!)
    assert.deepEqual(opened, ['r2', 'r1'])
  })
})
