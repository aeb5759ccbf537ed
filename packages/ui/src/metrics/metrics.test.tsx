import { screen, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { SeriesView, UsageRow, UsageView } from '@portico/gateway/admin-api'
import { refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage } from '../testing/render.tsx'
import { NOON, sampleBackends, sampleState } from '../testing/samples.ts'

const SERIES: SeriesView = {
  ...{ range: '15m', step: 5000, now: NOON, since: NOON - 86_400_000, times: [NOON - 10_000, NOON - 5000] },
  ...{ seconds: [5, 5], models: [], omitted: { routes: 0, models: 0 } },
  total: {
    requests: [10, 20],
    refused: [0, 5],
    failed: [0, 0],
    p50: [0.01, null],
    p95: [0.02, null],
    p99: [0.03, null],
  },
  routes: [{ name: 'orders', requests: [10, 20] }],
} as unknown as SeriesView

const SIZE = { calls: 2, input: 1000, output: 200, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const ROW = {
  ...{ provider: 'openai', providerName: 'main', model: 'gpt-4o', key: 'team-a', route: 'chat', backend: 'models' },
  ...SIZE,
  ...{ estimatedCalls: 1, silentCalls: 0, sizes: [SIZE] },
} as unknown as UsageRow

function useMetricsApi(
  t: TestContext,
  series: Partial<SeriesView>,
  rows: readonly UsageRow[],
  usage: Partial<UsageView> = {},
) {
  return useFakeGateway(t, {
    'GET /api/state': sampleState(),
    'GET /api/backends': sampleBackends([]),
    'GET /api/metrics/series': { ...SERIES, ...series },
    'GET /api/metrics/usage': { range: '15m', now: NOON, completeSince: 0, omitted: 0, rows, ...usage },
  })
}

describe('the page of metrics', () => {
  test('charts have their latest values as text, and lead to requests', async (t) => {
    useMetricsApi(t, {}, [])
    await openPage(t, '/metrics')
    assert.ok(await screen.findByRole('img', { name: 'Requests, latest: all 4.0/s' }))
    assert.ok(screen.getByRole('img', { name: 'Denied and failed, latest: denied 25 %, failed 0 %' }))
    assert.ok(screen.getByRole('img', { name: 'Time taken, latest: p50 –, p95 –, p99 –' }))
    const routes = within(screen.getByRole('region', { name: 'Requests by route' }))
    assert.match(routes.getByRole('link', { name: 'orders' }).getAttribute('href') ?? '', /route%3Aorders/)
  })

  test('no traffic is said in words, and no empty charts are drawn', async (t) => {
    useMetricsApi(t, { total: { ...SERIES.total, requests: [0, 0] } }, [])
    await openPage(t, '/metrics')
    assert.ok(await screen.findByText('No requests in the last 15 minutes.'))
    assert.equal(screen.queryByRole('img'), null)
    assert.ok(await screen.findByText('No model was called.'))
  })

  test('a young gateway says from when its data is', async (t) => {
    useMetricsApi(t, { times: [], seconds: [], since: NOON - 1000 }, [], { completeSince: NOON - 1000 })
    await openPage(t, '/metrics')
    assert.ok(await screen.findByText('The first data arrives a few seconds after the start.'))
    assert.ok(await screen.findByText(/^Records go back to 2026-11-17 11:59:59; usage before that is not counted\.$/))
  })

  test('usage has a row per model, key and route, a total, and the source of its counts', async (t) => {
    useMetricsApi(t, {}, [ROW, { ...ROW, key: null, estimatedCalls: 0 }])
    await openPage(t, '/metrics')
    const table = within(await screen.findByRole('region', { name: 'Table of tokens and cost' }))
    const headers = table.getAllByRole('columnheader').map(({ textContent }) => textContent)
    const names = ['Model', 'Key', 'Route', 'Calls', 'Input', 'Output', 'Cost', 'Token source', 'Price source', 'Total']
    assert.deepEqual(headers, names)
    assert.ok(
      table.getByRole('row', { name: /gpt-4o openai team-a chat 2 1,000 200 .* 1 of 2 counted by the gateway/ }),
    )
    assert.ok(table.getByRole('row', { name: /gpt-4o openai – chat 2 1,000 200 .* reported by the provider/ }))
    assert.ok(table.getByRole('row', { name: /^Total 4 2,000 400/ }))
  })

  test('grouping is a part of the address', async (t) => {
    useMetricsApi(t, {}, [ROW])
    const { user, address } = await openPage(t, '/metrics')
    const groups = within(await screen.findByRole('navigation', { name: 'Group by' }))
    await user.click(groups.getByRole('link', { name: 'By key' }))
    assert.ok(await screen.findByRole('row', { name: /^team-a 2/ }))
    assert.equal(address(), '/metrics?by=key')
  })

  test('an error of the gateway is shown, and can be retried', async (t) => {
    const gateway = useMetricsApi(t, {}, [])
    gateway.now({ 'GET /api/metrics/series': refusal(503, 'not now') })
    const { user } = await openPage(t, '/metrics')
    const alert = await screen.findByRole('alert')
    assert.ok(within(alert).getByText('not now'))
    gateway.now({ 'GET /api/metrics/series': SERIES })
    await user.click(within(alert).getByRole('button', { name: 'Try again' }))
    assert.ok(await screen.findByRole('img', { name: /^Requests, latest/ }))
  })
})
