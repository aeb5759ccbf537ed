import { screen, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { showPart } from '../testing/render.tsx'
import { sampleRequest } from '../testing/samples.ts'
import { REQUEST_COLUMNS, type RequestColumn } from './columns.tsx'
import { RequestTable } from './table.tsx'

const NOTHING = { cursor: null, openId: null, onOpen: () => {}, onEnd: () => {} }
const listed = (rows: readonly ReturnType<typeof sampleRequest>[]) => ({ rows, added: 0, omitted: 0, next: null })
const headers = () => screen.getAllByRole('columnheader').map(({ textContent }) => textContent ?? '')

/** The texts of the first request, by column header. */
function firstRow(): Record<string, string | null> {
  const [, row] = screen.getAllByRole('row')
  assert.ok(row !== undefined)
  const cells = within(row).getAllByRole('cell')
  return Object.fromEntries(cells.map(({ textContent }, index) => [headers()[index], textContent]))
}

/** Compares only the columns of `expected`: other columns may be added. */
function assertCells(expected: Record<string, string>): void {
  const found = firstRow()
  assert.deepEqual({ ...found, ...expected }, found)
}

describe('the table of requests', () => {
  test('header, cells and grid have the same columns', async (t) => {
    await showPart(t, <RequestTable shown={listed([sampleRequest()])} {...NOTHING} />)
    assert.deepEqual(
      headers(),
      REQUEST_COLUMNS.map(({ header }) => header),
    )
    assertCells({
      ...{ Time: '12:00:00', Outcome: '200 ', Method: 'GET', 'Host and path': 'shop.example.com/orders?page=2' },
      ...{ Route: 'orders', Backend: 'shop', Took: '2.4 ms', 'Decided by': '' },
    })
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
    assertCells({ Outcome: '— ', Method: 'tcp', 'Host and path': '', Route: '–', Backend: '–' })
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
