import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { exchangeRaw, request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

/** Virtual models in trouble: targets that are down or excluded, values that are missing, reloads during a stream. */

type Name = 'a' | 'b'

const respond: OriginHandler = (seen, response) => {
  const { model } = JSON.parse(seen.body) as { model: string }
  const choices = [{ index: 0, message: { role: 'assistant', content: `from ${model}` }, finish_reason: 'stop' }]
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: 'c', model, choices }))
}

interface Scene {
  house: object
  handlers?: Partial<Record<Name, OriginHandler>>
  /** Models that nothing listens for. */
  down?: readonly Name[]
  more?: Partial<Record<Name, object>>
}

async function setUp(t: TestContext, { house, handlers = {}, down = [], more = {} }: Scene) {
  const names: readonly Name[] = ['a', 'b']
  const called: Name[] = []
  const models = await Promise.all(
    names.map(async (name) => {
      const origin = await useOrigin(t, (...exchange) => {
        called.push(name)
        return (handlers[name] ?? respond)(...exchange)
      })
      const port = down.includes(name) ? await closedPort() : origin.port
      return { name, provider: { openai: {}, host: '127.0.0.1', port }, ...more[name] }
    }),
  )
  const virtual = { name: 'house', targets: [{ model: 'a' }, { model: 'b' }], ...house }
  const config = httpConfig([{ backends: [{ ai: { models: [...models, virtual] } }] }])
  const time = { now: 0 }
  const gateway = await useGateway(t, config, { logFormat: 'json', monotonic: () => time.now })
  t.after(() => assert.deepEqual(gateway.bugs, []))
  let sent = 0
  const ask = async (body: object = {}, path = '/v1/chat/completions', headers: Record<string, string> = {}) => {
    const chat = { model: 'house', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }], ...body }
    const answer = await request(gateway.port(), { method: 'POST', path, headers, body: JSON.stringify(chat) })
    await gateway.finished(++sent)
    return answer
  }
  const line = () => JSON.parse(gateway.lines.at(-1) ?? '{}') as Record<string, unknown>
  return { gateway, called, ask, line, time }
}

test('a stream of a virtual model goes on when a reload removes the model', async (t) => {
  const { promise: reloaded, resolve: goOn } = Promise.withResolvers<void>()
  const chunk = (content: string, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', model: 'a', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`
  const { gateway } = await setUp(t, {
    house: {},
    handlers: {
      a: (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk('one'))
        void reloaded.then(() => response.end(`${chunk(' two', 'stop')}data: [DONE]\n\n`))
      },
    },
  })
  const body = JSON.stringify({ model: 'house', stream: true, messages: [{ role: 'user', content: 'hi' }] })
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}`
  let isReloading = false
  const stream = await exchangeRaw(gateway.port(), `${head}\r\n\r\n${body}`, (received) => {
    if (received.includes('one') && !isReloading) {
      isReloading = true
      const next = httpConfig([{ backends: [{ ai: { models: [{ name: 'other', provider: { mock: {} } }] } }] }])
      void gateway.reload(JSON.stringify(next)).then(goOn)
    }
    return received.endsWith('0\r\n\r\n')
  })
  assert.match(stream, / two/)
  assert.match(stream, /\[DONE\]/)
  await gateway.finished(1)
  assert.equal(gateway.recorded()[0]?.llm?.modelChoice, 'a chosen')
  const after = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
  assert.equal(after.status, 404)
})

test('when all targets are down, the client gets the last failure, and the record has all of them', async (t) => {
  const { gateway, ask, line } = await setUp(t, { house: {}, down: ['a', 'b'] })
  const { status, body } = await ask()
  assert.equal(status, 503)
  const { error } = JSON.parse(body) as { error: { message: string } }
  assert.ok(!/127\.0\.0\.1/.test(error.message), error.message)
  assert.equal(line()['portico.ai.attempts'], 'a:connect_failed,b:connect_failed')
  assert.equal(gateway.recorded()[0]?.llm?.modelChoice, 'a: connect_failed; b: connect_failed')
  const messages = await ask({}, '/v1/messages')
  assert.deepEqual([messages.status, (JSON.parse(messages.body) as { type: string }).type], [503, 'error'])
})

test('conditions that exclude all targets are a 400 in the format of the client, with the reasons in the record', async (t) => {
  const targets = [
    { model: 'a', when: 'llm.promptTokens < 1' },
    { model: 'b', when: 'request.headers["x-tier"] == "gold"' },
  ]
  const { gateway, called, ask, line } = await setUp(t, { house: { targets } })
  const chat = await ask()
  assert.equal(chat.status, 400)
  const { error } = JSON.parse(chat.body) as { error: Record<string, unknown> }
  assert.deepEqual(
    [error['type'], error['code'], error['param']],
    ['invalid_request_error', 'no_model_target', 'model'],
  )
  assert.doesNotMatch(chat.body, /x-tier|gold/)
  assert.deepEqual([line()['http.status'], line()['reason']], [400, 'InvalidRequest'])
  const reason = gateway.recorded()[0]?.reason
  assert.match(JSON.stringify(reason), /a: \d+ prompt tokens ≥ 1; b: `request\.headers/)
  const messages = await ask({}, '/v1/messages')
  const { type, error: inner } = JSON.parse(messages.body) as { type: string; error: Record<string, unknown> }
  assert.deepEqual([messages.status, type, inner['type']], [400, 'error', 'invalid_request_error'])
  assert.deepEqual(called, [])
  assert.equal((await ask({}, '/v1/chat/completions', { 'x-tier': 'gold' })).status, 200)
})

test('by weight, a target of weight 0 is no fallback, and its exclusion has a reason', async (t) => {
  const targets = [
    { model: 'a', weight: 0 },
    { model: 'b', when: 'llmRequest.n > 1' },
  ]
  const { gateway, called, ask } = await setUp(t, { house: { by: 'Weight', targets } })
  assert.equal((await ask()).status, 400)
  assert.match(JSON.stringify(gateway.recorded()[0]?.reason), /a: weight 0/)
  assert.equal((await ask({ n: 2 })).status, 200)
  assert.deepEqual(called, ['b'])
})

test('by hash, requests for which the expression fails have one target', async (t) => {
  const { called, ask } = await setUp(t, { house: { by: 'Hash', hash: 'request.headers["x-user"]' } })
  for (let i = 0; i < 6; i++) assert.equal((await ask()).status, 200)
  assert.equal(new Set(called).size, 1)
})

test('by speed, a target that has only failed comes last for ten seconds', async (t) => {
  const { gateway, ask, time } = await setUp(t, { house: { by: 'Speed' }, down: ['a'] })
  for (const now of [1, 2, 10_000, 10_002, 10_003]) {
    time.now = now
    assert.equal((await ask()).status, 200)
  }
  const attempts = gateway.records.map(({ llm }) => llm?.attempts.length)
  assert.deepEqual(attempts, [2, 1, 1, 2, 1])
})

test('by price, a target without a price is rejected with its place', () => {
  const models = [
    { name: 'a', provider: { mock: {} }, price: { input: 1, output: 1 } },
    { name: 'b', provider: { mock: {} } },
    { name: 'house', by: 'Price', targets: [{ model: 'a' }, { model: 'b' }] },
  ]
  const config = httpConfig([{ backends: [{ ai: { models } }] }])
  const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
  assert.ok(!loaded.ok)
  assert.match(JSON.stringify(loaded.problems), /found the target `b`, which has no price/)
})

test('`allow` of a fallback reads the model that the client named, as before the first attempt', async (t) => {
  const handlers: Partial<Record<Name, OriginHandler>> = {
    a: (_seen, response) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":{"message":"no","code":"context_length_exceeded"}}'),
  }
  const house = { targets: [{ model: 'a' }], fallback: { contextLength: 'b' } }
  const named = await setUp(t, { house, handlers, more: { b: { allow: 'llm.requestModel == "house"' } } })
  assert.equal((await named.ask()).status, 200)
  const other = await setUp(t, { house, handlers, more: { b: { allow: 'llm.requestModel != "house"' } } })
  assert.equal((await other.ask()).status, 400)
  assert.deepEqual(other.called, ['a'])
})
