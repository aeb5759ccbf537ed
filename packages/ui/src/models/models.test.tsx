import { screen, waitFor, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { SendCall } from '@portico/gateway/admin-send'
import { type Answers, eventStream, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage, shownText } from '../testing/render.tsx'
import {
  deniedRecord,
  sampleBackend,
  sampleBackends,
  sampleEndpoint,
  sampleExplanation,
  samplePart,
  sampleRoute,
  sampleRoutes,
  sampleState,
} from '../testing/samples.ts'

const END = { type: 'end', error: null, isCut: false, bytes: 2, took: 900, record: null }
const MODELS = sampleBackend({
  key: 'models',
  name: 'models',
  kind: 'ai',
  at: '',
  groups: [[samplePart()]],
  activeGroup: 0,
})
const CHAT = sampleRoute('chat', { backends: [{ backend: 'models', name: 'models', weight: 1, policies: [] }] })

function useModelsApi(t: TestContext, others: Answers = {}) {
  return useFakeGateway(t, {
    'GET /api/state': sampleState(),
    'GET /api/routes': sampleRoutes([CHAT]),
    'GET /api/backends': sampleBackends([MODELS]),
    'GET /api/requests': { requests: [], next: null },
    'GET /api/metrics/usage': { range: '24h', now: 0, completeSince: 0, omitted: 0, rows: [] },
    ...others,
  })
}

const chunk = (content: string) => ({
  type: 'body',
  text: `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`,
})
const head = { type: 'head', status: 200, headers: [['content-type', 'text/event-stream']] }

async function say(t: TestContext, text: string, address = '/models?model=gpt-6') {
  const { user } = await openPage(t, address)
  await user.type(await screen.findByRole('textbox', { name: 'Message' }), `${text}{Enter}`)
}

describe('the playground of models', () => {
  test('Enter sends the message, and the answer is put together as plain text', async (t) => {
    const answer = () => eventStream([head, chunk('<i>Good'), chunk(' morning</i>'), END])
    const gateway = useModelsApi(t, { 'POST /api/send': answer })
    await say(t, 'Hello')
    const log = await screen.findByRole('log', { name: 'Conversation' })
    assert.ok(await within(log).findByText('<i>Good morning</i>'))
    assert.equal(log.querySelector('i'), null)
    const call = gateway.seen('POST /api/send')[0]?.body as SendCall
    assert.deepEqual([call.method, call.path, call.listener], ['POST', '/chat/v1/chat/completions', 'bind/1/web'])
    const body = JSON.parse(call.body ?? '') as { model: string; stream: boolean; messages: object[] }
    assert.deepEqual(body.messages, [{ role: 'user', content: 'Hello' }])
    assert.deepEqual([body.model, body.stream], ['gpt-6', true])
  })

  test('without a model nothing can be sent, and the field says why', async (t) => {
    const gateway = useModelsApi(t)
    await say(t, 'Hello', '/models')
    assert.ok(screen.getByPlaceholderText('Name a model first'))
    assert.equal(screen.getByRole('button', { name: 'Send' }).hasAttribute('disabled'), true)
    assert.equal(gateway.seen('POST /api/send').length, 0)
  })

  test('Shift+Enter starts a new line', async (t) => {
    useModelsApi(t)
    const { user } = await openPage(t, '/models?model=gpt-6')
    const field = await screen.findByRole('textbox', { name: 'Message' })
    await user.type(field, 'a{Shift>}{Enter}{/Shift}b')
    assert.equal('value' in field && field.value, 'a\nb')
  })

  test('a denied request is an alert with the message of the gateway, and its explanation', async (t) => {
    const denied = [
      { ...head, status: 429, headers: [] },
      { type: 'body', text: 'rate limit exceeded' },
    ]
    useModelsApi(t, {
      'POST /api/send': () => eventStream([...denied, { ...END, record: deniedRecord({ id: 'r2', status: 429 }) }]),
      'GET /api/requests/r2/explain': sampleExplanation({ headline: 'the budget is spent' }),
    })
    await say(t, 'Hello')
    assert.match((await screen.findByRole('alert')).textContent ?? '', /429: rate limit exceeded/)
    const decisions = within(screen.getByRole('region', { name: 'Decisions' }))
    assert.ok(await decisions.findByText('The budget is spent'))
    const link = decisions.getByRole('link', { name: 'Open the request' })
    assert.equal(link.getAttribute('href'), '/ui/requests?id=r2')
  })

  test('an answer without text says so', async (t) => {
    useModelsApi(t, { 'POST /api/send': () => eventStream([head, chunk(''), END]) })
    await say(t, 'Hello')
    assert.ok(await screen.findByText('The response has no text.'))
  })

  test('headers of your own go along and stay out of the address', async (t) => {
    const gateway = useModelsApi(t, { 'POST /api/send': () => eventStream([head, chunk('hi'), END]) })
    const { user, address } = await openPage(t, '/models?model=gpt-6')
    await user.click(await screen.findByText('Headers'))
    await user.type(screen.getByRole('textbox', { name: /^Headers to send/ }), 'authorization: Bearer s3cret')
    await user.type(screen.getByRole('textbox', { name: 'Message' }), 'Hello{Enter}')
    await waitFor(() => assert.equal(gateway.seen('POST /api/send').length, 1))
    assert.match(JSON.stringify(gateway.seen('POST /api/send')[0]?.body), /Bearer s3cret/)
    assert.doesNotMatch(address(), /s3cret/)
  })
})

describe('the page of models', () => {
  test('providers stand in failover order with their state', async (t) => {
    const evicted = sampleEndpoint({ state: 'evicted', evictions: 1, evictedUntil: Date.now() + 60_000 })
    const groups = [[samplePart({ health: evicted })], [samplePart({ name: 'spare' })], [samplePart({ name: 'last' })]]
    useModelsApi(t, { 'GET /api/backends': sampleBackends([{ ...MODELS, groups, activeGroup: 1 }]) })
    await openPage(t, '/models')
    const providers = within(await screen.findByRole('region', { name: 'Providers in the order of failover' }))
    const texts = providers.getAllByRole('listitem').map(({ textContent }) => textContent ?? '')
    assert.match(texts[0] ?? '', /First.*main.*✕ evicted/)
    assert.match(texts[1] ?? '', /Fallback.*spare.*● Receives requests/)
    assert.match(texts[2] ?? '', /Fallback.*last.*○ On standby/)
  })

  test('without a route to models the page has a config to begin with', async (t) => {
    useModelsApi(t, { 'GET /api/routes': sampleRoutes([]) })
    await openPage(t, '/models')
    assert.ok(await screen.findByRole('heading', { name: 'No route leads to models' }))
    assert.ok(screen.getByRole('button', { name: 'Copy the config' }))
  })

  test('the setup of clients has the address of the route', async (t) => {
    useModelsApi(t)
    const { user } = await openPage(t, '/models')
    await user.click(await screen.findByRole('tab', { name: 'Clients' }))
    await waitFor(() => assert.match(shownText(), /OPENAI_BASE_URL=http:\/\/127\.0\.0\.1:8080\/chat\/v1/))
  })
})
