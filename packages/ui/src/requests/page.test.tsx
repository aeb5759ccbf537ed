import { screen, waitFor, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { ListedRequest } from '@portico/gateway/admin-api'
import { type Answers, quietStream, refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage } from '../testing/render.tsx'
import { deniedRecord, sampleExplanation, sampleRecord, sampleRequest, sampleState } from '../testing/samples.ts'

const ROWS = [sampleRequest(), sampleRequest({ id: 'r2', path: '/admin', status: 403, outcome: 'denied' })]

function useRequestsApi(t: TestContext, requests: readonly ListedRequest[], others: Answers = {}) {
  return useFakeGateway(t, {
    'GET /api/state': sampleState(),
    'GET /api/requests': { requests, next: null },
    'GET /api/requests/stream': quietStream,
    'GET /api/requests/r1': sampleRecord(),
    'GET /api/requests/r1/explain': sampleExplanation({ id: 'r1', headline: 'the request passed' }),
    'GET /api/requests/r2': deniedRecord(),
    'GET /api/requests/r2/explain': sampleExplanation(),
    ...others,
  })
}

describe('the page of requests', () => {
  test('keys walk the rows, open one, and close it', async (t) => {
    useRequestsApi(t, ROWS)
    const { user, address } = await openPage(t, '/requests')
    await screen.findByText('/admin')
    await user.keyboard('jj{Enter}')
    assert.ok(await screen.findByRole('region', { name: 'Open request' }))
    assert.equal(address(), '/requests?id=r2')
    await user.keyboard('k')
    await screen.findByText('The request passed')
    assert.equal(address(), '/requests?id=r1')
    await user.keyboard('{Escape}')
    await waitFor(() => assert.equal(screen.queryByRole('region', { name: 'Open request' }), null))
    assert.equal(address(), '/requests')
  })

  test('an address opens the request and the tab that it names', async (t) => {
    useRequestsApi(t, ROWS)
    await openPage(t, '/requests?id=r2&tab=raw')
    const tab = await screen.findByRole('tab', { name: 'Raw' })
    assert.equal(tab.getAttribute('aria-selected'), 'true')
  })

  test('a filter is written after "/" and becomes a part of the address and of the call', async (t) => {
    const gateway = useRequestsApi(t, ROWS)
    const { user, address } = await openPage(t, '/requests')
    await screen.findByText('/admin')
    await user.keyboard('/')
    const filter = screen.getByRole('textbox', { name: 'Filter' })
    assert.equal(document.activeElement, filter)
    await user.keyboard('status:>=400 route:chat{Enter}')
    await waitFor(() =>
      assert.match(gateway.seen('GET /api/requests').at(-1)?.path ?? '', /status=%3E%3D400&route=chat/),
    )
    assert.match(address(), /\/requests\?q=status/)
  })

  test('a word that is no term is named before it is sent', async (t) => {
    useRequestsApi(t, ROWS)
    const { user } = await openPage(t, '/requests')
    await user.type(await screen.findByRole('textbox', { name: 'Filter' }), 'nonsense')
    assert.equal(screen.getByRole('textbox', { name: 'Filter' }).getAttribute('aria-invalid'), 'true')
    assert.ok(screen.getByText(/Not understood: nonsense\./))
  })

  test('a quick filter toggles', async (t) => {
    useRequestsApi(t, ROWS)
    const { user, address } = await openPage(t, '/requests')
    const only = within(await screen.findByRole('group', { name: 'Show only' }))
    await user.click(only.getByRole('button', { name: 'denied' }))
    await waitFor(() => assert.equal(address(), '/requests?q=outcome%3Adenied'))
    const again = within(screen.getByRole('group', { name: 'Show only' }))
    assert.equal(again.getByRole('button', { name: 'denied' }).getAttribute('aria-pressed'), 'true')
    await user.click(again.getByRole('button', { name: 'denied' }))
    await waitFor(() => assert.equal(address(), '/requests'))
  })

  test('requests that a shadow would have denied are found with one click', async (t) => {
    const gateway = useRequestsApi(t, ROWS)
    const { user, address } = await openPage(t, '/requests')
    await user.click(await screen.findByRole('button', { name: 'shadow denied' }))
    await waitFor(() => assert.match(gateway.seen('GET /api/requests').at(-1)?.path ?? '', /shadow=denied/))
    const again = screen.getByRole('button', { name: 'shadow denied' })
    assert.equal(again.getAttribute('aria-pressed'), 'true')
    await user.click(again)
    await waitFor(() => assert.equal(address(), '/requests'))
  })

  test('rows are counted, and denied ones apart', async (t) => {
    useRequestsApi(t, ROWS)
    await openPage(t, '/requests')
    assert.ok(await screen.findByText(/2 shown/))
    assert.ok(screen.getByText(/1 denied/))
  })

  test('a live request comes first, once, and those left out are counted', async (t) => {
    const fresh = sampleRequest({ id: 'r3', path: '/fresh' })
    const batch = { requests: [ROWS[0], fresh], omitted: 7 }
    const stream = new ReadableStream({
      start: (body) => body.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(batch)}\n\n`)),
    })
    useRequestsApi(t, ROWS, { 'GET /api/requests/stream': () => new Response(stream) })
    await openPage(t, '/requests')
    assert.ok(await screen.findByText(/3 shown/))
    assert.ok(screen.getByText(/7 not shown/))
    assert.match(screen.getAllByRole('row')[1]?.textContent ?? '', /\/fresh/)
  })

  test('live requests pause and resume by key', async (t) => {
    useRequestsApi(t, ROWS)
    const { user } = await openPage(t, '/requests')
    await screen.findByRole('button', { name: '● Live' })
    await user.keyboard('l')
    const button = await screen.findByRole('button', { name: '▷ Paused' })
    assert.equal(button.getAttribute('aria-pressed'), 'false')
    await user.keyboard('l')
    assert.ok(await screen.findByRole('button', { name: '● Live' }))
  })

  test('without requests the page says how to get one', async (t) => {
    useRequestsApi(t, [])
    await openPage(t, '/requests')
    assert.ok(await screen.findByRole('heading', { name: 'No requests yet' }))
  })

  test('a filter without matches can be removed', async (t) => {
    useRequestsApi(t, [])
    const { user, address } = await openPage(t, '/requests?q=status:500')
    assert.ok(await screen.findByRole('heading', { name: 'No request matches' }))
    await user.click(screen.getByRole('button', { name: 'Show all' }))
    await waitFor(() => assert.equal(address(), '/requests'))
  })

  test('an error of the gateway is shown as it is, and can be retried', async (t) => {
    const gateway = useRequestsApi(t, [], { 'GET /api/requests': refusal(400, 'expression: 1:3 unexpected end') })
    const { user } = await openPage(t, '/requests')
    const alert = await screen.findByRole('alert')
    assert.ok(within(alert).getByText('expression: 1:3 unexpected end'))
    gateway.now({ 'GET /api/requests': { requests: ROWS, next: null } })
    await user.click(within(alert).getByRole('button', { name: 'Try again' }))
    assert.ok(await screen.findByText('/admin'))
  })
})
