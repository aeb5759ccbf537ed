import { screen, waitFor, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { ListedRequest } from '@portico/gateway/admin-api'
import type { ViewedRoute } from '@portico/gateway/admin-config'
import { refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage, showPart, shownText } from '../testing/render.tsx'
import {
  NOON,
  sampleBackend,
  sampleBackends,
  sampleEndpoint,
  samplePart,
  sampleRequest,
  sampleRoute,
  sampleRoutes,
  sampleState,
} from '../testing/samples.ts'
import { Trouble } from './trouble.tsx'

const MANY = Array.from({ length: 40 }, (_, index) => sampleRoute(`r${index}`))

function useOverviewApi(t: TestContext, routes: readonly ViewedRoute[], requests: readonly ListedRequest[] = []) {
  return useFakeGateway(t, {
    'GET /api/state': sampleState(),
    'GET /api/routes': sampleRoutes(routes),
    'GET /api/backends': sampleBackends([sampleBackend()]),
    'GET /api/requests': ({ path }) =>
      path.includes('outcome=')
        ? { requests: requests.filter(({ outcome }) => outcome !== 'passed'), next: null }
        : { requests, next: null },
  })
}

const rowsOf = (table: HTMLElement) => within(table).getAllByRole('row').slice(1)

describe('the table of routes', () => {
  test('each row has the cells of its columns, and zero is not the same as no traffic', async (t) => {
    const requests = [sampleRequest({ at: Date.now(), route: 'r7', took: 2400 })]
    useOverviewApi(t, MANY, requests)
    await openPage(t, '/')
    const table = await screen.findByRole('table')
    const headers = within(table)
      .getAllByRole('columnheader')
      .map(({ textContent }) => textContent)
    assert.deepEqual(headers, ['Listener', 'Route', 'Path', 'Backends', 'Rate ↓', 'Errors', 'p95'])
    const [first, second] = rowsOf(table).map((row) =>
      within(row)
        .getAllByRole('cell')
        .map(({ textContent }) => textContent),
    )
    assert.deepEqual(first, ['web', 'r7/r7…', '/r7…', 'shop', '0.02/s', '0 %', '2.4 ms'])
    assert.deepEqual(second?.slice(4), ['–', '–', '–'])
  })

  test('a header sorts, and says in which direction', async (t) => {
    useOverviewApi(t, MANY)
    const { user, address } = await openPage(t, '/')
    await user.click(within(await screen.findByRole('table')).getByRole('button', { name: 'Route' }))
    const header = await screen.findByRole('columnheader', { name: 'Route ↑' })
    assert.equal(header.getAttribute('aria-sort'), 'ascending')
    assert.match(address(), /sort=title/)
    assert.ok(within(rowsOf(screen.getByRole('table'))[0]!).getByRole('link', { name: 'r0' }))
  })

  test('a search counts its matches, and says when there is none', async (t) => {
    useOverviewApi(t, MANY)
    const { user } = await openPage(t, '/')
    await user.type(await screen.findByRole('searchbox', { name: 'Search routes' }), 'r39')
    assert.ok(await screen.findByText('1 of 40 routes'))
    await user.type(screen.getByRole('searchbox', { name: 'Search routes' }), 'zzz')
    assert.ok(await screen.findByText('No route matches the search.'))
  })

  test('a rate leads to the requests of its route', async (t) => {
    useOverviewApi(t, MANY, [sampleRequest({ at: Date.now(), route: 'r7' })])
    await openPage(t, '/')
    const link = await screen.findByRole('link', { name: '0.02/s' })
    assert.equal(link.getAttribute('href'), '/ui/requests?q=route%3Ar7')
  })
})

describe('the overview', () => {
  test('a config without routes has three configs to begin with', async (t) => {
    useOverviewApi(t, [])
    const { user } = await openPage(t, '/')
    await screen.findByRole('heading', { name: 'This gateway has no routes yet' })
    await user.click(screen.getByRole('button', { name: 'Copy the config for Models' }))
    assert.match(await navigator.clipboard.readText(), /mock/)
  })

  test('denied requests are counted by reason and lead to their detail', async (t) => {
    const reason = { kind: 'Authorization', policy: 'authorization', phase: null, code: 'denied', values: {} }
    const denied = { at: Date.now(), status: 403, outcome: 'denied', reason, path: '/admin' } as const
    useOverviewApi(t, MANY, [sampleRequest({ id: 'd1', ...denied }), sampleRequest({ id: 'd2', ...denied })])
    await openPage(t, '/')
    const aside = within(await screen.findByRole('complementary', { name: 'Denied and failed requests' }))
    await aside.findByRole('link', { name: 'authorization' })
    assert.ok(aside.getByText('2'))
    const links = aside.getAllByRole('link', { name: /403.*\/admin/ })
    assert.equal(links[0]?.getAttribute('href'), '/ui/requests?id=d1')
  })

  test('a gateway without denied requests says so', async (t) => {
    useOverviewApi(t, MANY)
    await openPage(t, '/')
    assert.ok(await screen.findByText('No denied or failed requests recorded.'))
    assert.ok(screen.getByText('No requests in the last minute.'))
  })

  test('a call that fails is named and can be retried', async (t) => {
    const gateway = useOverviewApi(t, MANY)
    gateway.now({ 'GET /api/backends': refusal(503, 'starting') })
    const { user } = await openPage(t, '/')
    const alert = await screen.findByRole('alert')
    assert.ok(within(alert).getByText('starting'))
    gateway.now({ 'GET /api/backends': sampleBackends([]) })
    await user.click(within(alert).getByRole('button', { name: 'Try again' }))
    await waitFor(() => assert.equal(screen.queryByRole('alert'), null))
  })
})

describe('backends in trouble', () => {
  test('nothing is shown while all are healthy', async (t) => {
    await showPart(t, <Trouble view={sampleBackends([sampleBackend({ endpoints: [sampleEndpoint()] })])} now={NOON} />)
    assert.equal(shownText(), '')
  })

  test('an evicted provider says why in words, until when, and its fallback', async (t) => {
    const health = sampleEndpoint({
      ...{ name: 'main', state: 'evicted', evictions: 1, evictedUntil: NOON + 30_000 },
      lastFailure: { at: NOON - 2000, cause: 'response_timeout' },
    })
    const groups = [[samplePart({ health })], [samplePart({ name: 'spare' })]]
    const backend = sampleBackend({ name: 'models', kind: 'ai', groups, activeGroup: 1 })
    await showPart(t, <Trouble view={sampleBackends([backend])} now={NOON} />)
    const item = screen.getByRole('listitem')
    assert.match(item.textContent ?? '', /models ▸ main.*✕ evicted, 30 s left · response timed out, 2 s ago/)
    assert.match(item.textContent ?? '', /requests go to spare/)
    assert.doesNotMatch(shownText(), /_/)
  })

  test('workers that did not report are counted', async (t) => {
    await showPart(t, <Trouble view={{ ...sampleBackends([]), unheard: 1 }} now={NOON} />)
    assert.match(shownText(), /1 worker did not report the health of backends\./)
  })
})
