import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import type { Origin, OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

/** Guards of the models behind a virtual model: those of the model that is called apply, and a rejection is final. */

type Name = 'a' | 'b'

const SAID = 'mail ann@example.com now'
const MASKED = 'mail <EMAIL_ADDRESS> now'
const email = { regex: { builtins: ['Email'] } }
const rejectsSecrets = { regex: { matches: ['secret'], action: 'Reject' } }

const webhook = { webhook: { backendRef: { name: 'guard' } } }
const webhookAt = ({ port }: Origin) => ({ name: 'guard', static: { host: '127.0.0.1', port } })

const respond: OriginHandler = (_seen, response) => {
  const choices = [{ index: 0, message: { role: 'assistant', content: SAID }, finish_reason: 'stop' }]
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: 'c', model: 'm', choices }))
}

function failWith(status: number, error: object = { message: 'no' }): OriginHandler {
  return (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  }
}

interface Scene {
  guards: Partial<Record<Name, object>>
  handlers?: Partial<Record<Name, OriginHandler>>
  fallback?: object
  backends?: object[]
}

async function setUp(t: TestContext, { guards, handlers = {}, fallback, backends = [] }: Scene) {
  const names: readonly Name[] = ['a', 'b']
  const origins = await Promise.all(names.map((name) => useOrigin(t, handlers[name] ?? respond)))
  const models = names.map((name, index) => ({
    name,
    provider: { openai: {}, host: '127.0.0.1', port: origins[index]?.port },
    policies: { ai: { promptGuard: guards[name] ?? {} } },
  }))
  const house = { name: 'house', targets: [{ model: 'a' }, { model: 'b' }], ...(fallback && { fallback }) }
  const gateway = await useGateway(
    t,
    httpConfig([{ backends: [{ ai: { models: [...models, house] } }] }], { backends }),
  )
  t.after(() => assert.deepEqual(gateway.bugs, []))
  const ask = async (content: string) => {
    const body = JSON.stringify({ model: 'house', messages: [{ role: 'user', content }] })
    const answer = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
    await gateway.finished(1)
    return answer
  }
  return { gateway, ask, bodies: () => origins.map(({ seen }) => seen.map(({ body }) => body)) }
}

test('the guards of the model that serves the request apply', async (t) => {
  const own = { request: [email], response: [email] }
  const { ask, bodies } = await setUp(t, { guards: { b: own }, handlers: { a: failWith(503) } })
  const { body } = await ask(SAID)
  assert.ok(body.includes(MASKED) && !body.includes('ann@'), body)
  const [[first = ''] = [], [second = ''] = []] = bodies()
  assert.ok(first.includes(SAID), first)
  assert.ok(second.includes(MASKED) && !second.includes('ann@'), second)
})

test('texts that the guards of a failed model masked reach the next model as the client sent them', async (t) => {
  const { ask, bodies } = await setUp(t, { guards: { a: { request: [email] } }, handlers: { a: failWith(503) } })
  assert.equal((await ask(SAID)).status, 200)
  const [[first = ''] = [], [second = ''] = []] = bodies()
  assert.ok(first.includes(MASKED) && !first.includes('ann@'), first)
  assert.ok(second.includes(SAID), second)
})

for (const rule of [undefined, 'next', 'b']) {
  const fallback = rule === undefined ? undefined : { contentFilter: rule }

  test(`a prompt that a guard rejects reaches no target, with contentFilter ${rule ?? 'unset'}`, async (t) => {
    const { gateway, ask, bodies } = await setUp(t, {
      guards: { a: { request: [rejectsSecrets] } },
      ...(fallback && { fallback }),
    })
    assert.equal((await ask('a secret')).status, 403)
    assert.deepEqual(bodies(), [[], []])
    const record = gateway.recorded()[0]
    assert.deepEqual([record?.reason?.code, record?.llm?.modelChoice], ['guard_reject', 'a chosen'])
  })

  test(`a response that a guard rejects is not bought again, with contentFilter ${rule ?? 'unset'}`, async (t) => {
    const verdict = { action: { status_code: 403, body: 'not this', reason: 'a test' } }
    const rejecting = await useOrigin(t, (_seen, response) => response.end(JSON.stringify(verdict)))
    const { ask, bodies } = await setUp(t, {
      guards: { a: { response: [webhook] } },
      backends: [webhookAt(rejecting)],
      ...(fallback && { fallback }),
    })
    const { status, body } = await ask('hi')
    assert.equal(status, 403, body)
    assert.ok(!body.includes('ann@'), body)
    assert.deepEqual(
      bodies().map(({ length }) => length),
      [1, 0],
    )
  })
}

test('after a fallback for the filter of a provider, the guards of the next model decide', async (t) => {
  const { ask, bodies } = await setUp(t, {
    guards: { b: { request: [rejectsSecrets] } },
    handlers: { a: failWith(400, { message: 'The response was filtered', code: 'content_filter' }) },
    fallback: { contentFilter: 'next' },
  })
  assert.equal((await ask('a secret')).status, 403)
  assert.deepEqual(
    bodies().map(({ length }) => length),
    [1, 0],
  )
})

test('a guard that cannot run rejects the prompt for all targets', async (t) => {
  const refusing = await useOrigin(t, (_seen, response) => response.writeHead(500).end())
  const { ask, bodies } = await setUp(t, {
    guards: { a: { request: [webhook] } },
    backends: [webhookAt(refusing)],
  })
  assert.equal((await ask('hi')).status, 503)
  assert.deepEqual(bodies(), [[], []])
})
