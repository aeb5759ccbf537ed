import { screen, waitFor, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { type Answers, refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage } from '../testing/render.tsx'
import { sampleRoute, sampleRoutes, sampleState } from '../testing/samples.ts'

const POLICY = {
  ...{ name: 'rateLimit', configs: [{ local: [{ maxTokens: 10 }] }], isJoined: false },
  from: { key: 'inline/orders', on: 'route' as const },
  others: [{ key: 'inline/web', on: 'listener' as const }],
}
const ROUTES = sampleRoutes([sampleRoute('orders', { policies: [POLICY] }), sampleRoute('users')])

function useRoutesApi(t: TestContext, others: Answers = {}) {
  return useFakeGateway(t, { 'GET /api/state': sampleState(), 'GET /api/routes': ROUTES, ...others })
}

describe('the page of routes', () => {
  test('the first route is open, and keys walk to the next', async (t) => {
    useRoutesApi(t)
    const { user, address } = await openPage(t, '/routes')
    const tree = within(await screen.findByRole('navigation', { name: 'Routes by listener' }))
    assert.equal(tree.getByRole('link', { name: /^orders/ }).getAttribute('aria-current'), 'true')
    await user.keyboard('j')
    await waitFor(() => assert.match(address(), /route=bind%2F1%2Fweb%2Fusers/))
    assert.ok(await screen.findByRole('heading', { name: /^users/ }))
  })

  test('a policy says where it comes from and what it overrides', async (t) => {
    useRoutesApi(t)
    await openPage(t, '/routes')
    assert.ok(await screen.findByText('rateLimit'))
    assert.ok(screen.getByText('from the route, overrides the listener'))
  })

  test('a config without routes says so', async (t) => {
    useRoutesApi(t, { 'GET /api/routes': sampleRoutes([]) })
    await openPage(t, '/routes')
    assert.ok(await screen.findByRole('heading', { name: 'No routes' }))
  })
})

describe('does this URL match', () => {
  const port = { bind: 'bind/1', port: 8080, listener: { key: 'bind/1/web', name: 'web' }, remarks: [] }
  const taken = { key: 'bind/1/web/users', name: 'users', rule: '', match: 0 }

  test('the matching route is named, and Enter opens it', async (t) => {
    const nearest = [{ route: 'bind/1/web/orders', name: 'orders', lacks: ['path below /orders', 'method POST'] }]
    const gateway = useRoutesApi(t, { 'POST /api/routes/match': { ports: [{ ...port, route: taken, nearest }] } })
    const { user, address } = await openPage(t, '/routes')
    await user.type(await screen.findByRole('textbox', { name: 'Does this URL match?' }), '/users/1')
    const matches = await screen.findByRole('list', { name: 'Matching routes' })
    assert.match(matches.textContent ?? '', /:8080 web → users matches, by its match 1/)
    assert.match(matches.textContent ?? '', /orders lacks path below \/orders, and 1 more/)
    await user.keyboard('{Enter}')
    await waitFor(() => assert.match(address(), /route=bind%2F1%2Fweb%2Fusers/))
    assert.deepEqual(gateway.seen('POST /api/routes/match').at(-1)?.body, { url: '/users/1' })
  })

  test('a URL without a route says so', async (t) => {
    useRoutesApi(t, { 'POST /api/routes/match': { ports: [{ ...port, route: null, nearest: [] }] } })
    await openPage(t, '/routes?url=/nowhere')
    assert.ok(await screen.findByText('▲ No route matches'))
  })

  test('half a URL is not asked for', async (t) => {
    const gateway = useRoutesApi(t)
    await openPage(t, '/routes?url=shop')
    assert.ok(await screen.findByText(/^Expected a path that begins with/))
    assert.equal(gateway.seen('POST /api/routes/match').length, 0)
  })

  test('headers with secrets are sent but stay out of the address', async (t) => {
    const gateway = useRoutesApi(t, { 'POST /api/routes/match': { ports: [] } })
    const { user, address } = await openPage(t, '/routes?url=/users')
    await user.click(await screen.findByText('Headers'))
    await user.type(
      screen.getByRole('textbox', { name: 'Headers, one on each line' }),
      'x-team: web{Enter}x-api-key: s3cret',
    )
    await waitFor(() =>
      assert.deepEqual(gateway.seen('POST /api/routes/match').at(-1)?.body, {
        url: '/users',
        headers: { 'x-team': ['web'], 'x-api-key': ['s3cret'] },
      }),
    )
    assert.match(decodeURIComponent(address()), /x-team/)
    assert.doesNotMatch(address(), /s3cret/)
  })

  test('an error of the gateway is shown', async (t) => {
    useRoutesApi(t, { 'POST /api/routes/match': refusal(400, 'no such host') })
    await openPage(t, '/routes?url=/users')
    assert.match((await screen.findByRole('alert')).textContent ?? '', /no such host/)
  })
})
