import { screen, waitFor, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { type Answers, quietStream, refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage, shownText } from '../testing/render.tsx'
import { sampleBackend, sampleBackends, sampleRoute, sampleRoutes, sampleState } from '../testing/samples.ts'

function useApi(t: TestContext, others: Answers = {}) {
  return useFakeGateway(t, {
    'GET /api/state': sampleState(),
    'GET /api/routes': sampleRoutes([sampleRoute('orders')]),
    'GET /api/backends': sampleBackends([sampleBackend()]),
    'GET /api/requests': { requests: [], next: null },
    'GET /api/requests/stream': quietStream,
    ...others,
  })
}

const statusText = async () => (await screen.findByRole('status')).textContent?.trim()

describe('the status line', () => {
  test('config, workers and load', async (t) => {
    useApi(t)
    await openPage(t, '/routes')
    await waitFor(async () => assert.equal(await statusText(), '● Config 7 live · 3 workers · 1.2k req/s'))
  })

  test('a token that may only read', async (t) => {
    useApi(t, { 'GET /api/state': sampleState({ access: { token: 'grafana', scope: 'Read' } }) })
    await openPage(t, '/routes')
    await waitFor(async () =>
      assert.equal(await statusText(), '● Config 7 live · 3 workers · 1.2k req/s · read-only (grafana)'),
    )
  })

  test('no config, one worker and no load', async (t) => {
    useApi(t, { 'GET /api/state': sampleState({ generation: 0, workers: 1, requestsPerSecond: 0 }) })
    await openPage(t, '/routes')
    await waitFor(async () => assert.equal(await statusText(), '● No config live yet · 1 worker · 0 req/s'))
  })

  test('a rejected reload has its first problem, and the number of others', async (t) => {
    const problems = [{ text: 'gateway.yaml:3:1: unknown key `bindz`' }, { text: 'b' }]
    useApi(t, { 'GET /api/state': sampleState({ problems }) })
    await openPage(t, '/routes')
    const text = /Reload rejected, config 7 stays live · gateway\.yaml:3:1: unknown key `bindz` \(and 1 more\)/
    await waitFor(async () => assert.match((await statusText()) ?? '', text))
  })

  test('a gateway that never responded says why', async (t) => {
    useApi(t, { 'GET /api/state': refusal(503, 'shutting down') })
    await openPage(t, '/routes')
    await waitFor(async () => assert.equal(await statusText(), 'The gateway does not respond: shutting down'))
  })
})

describe('keys of the frame', () => {
  test('Ctrl+K searches; arrows choose; Enter goes there', async (t) => {
    useApi(t)
    const { user, address } = await openPage(t, '/routes')
    await screen.findByRole('navigation', { name: 'Routes by listener' })
    await user.keyboard('{Control>}k{/Control}')
    const dialog = within(await screen.findByRole('dialog'))
    await user.type(await dialog.findByRole('combobox', { name: 'Go to' }), 'shop')
    assert.ok(await dialog.findByRole('option', { name: 'backend shop', selected: true }))
    await user.keyboard('{Enter}')
    await waitFor(() => assert.match(decodeURIComponent(address()), /\/requests\?q=.*backend\.name\+==.*shop/))
  })

  test('a search without matches says so', async (t) => {
    useApi(t)
    const { user } = await openPage(t, '/routes')
    await user.keyboard('{Control>}k{/Control}')
    await user.type(await screen.findByRole('combobox', { name: 'Go to' }), 'zzz')
    assert.ok(await screen.findByText('No match.'))
  })

  test('"?" lists the keys, Escape closes the list', async (t) => {
    useApi(t)
    const { user } = await openPage(t, '/routes')
    await user.keyboard('?')
    assert.ok(await screen.findByRole('dialog', { name: 'Keys' }))
    await user.keyboard('{Escape}')
    await waitFor(() => assert.equal(screen.queryByRole('dialog', { name: 'Keys' }), null))
  })

  test('a letter goes to its page, but not while somebody writes', async (t) => {
    useApi(t)
    const { user, address } = await openPage(t, '/routes')
    await user.type(await screen.findByRole('textbox', { name: 'Does this URL match?' }), 'o')
    assert.match(address(), /^\/routes/)
    await user.keyboard('{Escape}o')
    await waitFor(() => assert.equal(address(), '/'))
  })
})

test('an unknown page leads back', async (t) => {
  useApi(t)
  await openPage(t, '/nowhere')
  assert.ok(await screen.findByRole('heading', { name: 'Page not found' }))
  const main = within(screen.getByRole('main'))
  assert.equal(main.getByRole('link', { name: 'Overview' }).getAttribute('href'), '/ui/')
})

test('a page that fails says so, keeps the frame, and can be loaded again', async (t) => {
  const broken = { ...sampleRoutes([]), binds: null }
  const gateway = useApi(t, { 'GET /api/routes': broken })
  t.mock.method(console, 'error', () => {})
  t.mock.method(console, 'warn', () => {})
  const { user } = await openPage(t, '/routes')
  const alert = await screen.findByRole('alert')
  assert.ok(within(alert).getByRole('heading', { name: 'This page failed' }))
  assert.ok(screen.getByRole('navigation', { name: 'Pages' }))
  gateway.now({ 'GET /api/routes': sampleRoutes([sampleRoute('orders')]) })
  await user.click(within(alert).getByRole('button', { name: 'Try again' }))
  assert.ok(await screen.findByRole('navigation', { name: 'Routes by listener' }))
})

test('log out is there with a session only', async (t) => {
  useApi(t)
  await openPage(t, '/routes')
  await screen.findByRole('navigation', { name: 'Pages' })
  assert.equal(screen.queryByRole('button', { name: 'Log out' }), null)
  assert.doesNotMatch(shownText(), /undefined|\[object/)
})
