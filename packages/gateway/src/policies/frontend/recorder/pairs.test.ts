import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import type { RequestRecord } from '../../../telemetry/recorder/record.ts'
import { NO, useAuthorizer } from '../../../testing/services/authorizer.ts'
import { request } from '../../../testing/client.ts'
import type { TestGateway } from '../../../testing/gateway.ts'
import { useMcpServer } from '../../../testing/mcp/mcp-server.ts'
import { useMcpScene } from '../../../testing/mcp/mcp-scene.ts'
import { immediate, useAnsweringProcessor } from '../../../testing/services/processor.ts'
import { closedPort, httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

/** Records of requests that other features handle. */

async function recordOf(gateway: TestGateway, matches: (record: RequestRecord) => boolean): Promise<RequestRecord> {
  await until(() => gateway.recorded().some(matches))
  return gateway.recorded().find(matches)!
}

test('a request by HTTP/2 has its version, and each stream a record of its own', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, { backend: { http: { version: 'HTTP1' } } }, pathPrefix('/there'))]),
  )
  const session = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
  const streams = ['/there/1', '/there/2', '/elsewhere'].map((path) => session.request({ ':path': path }))
  await Promise.all(streams.map((stream) => once(stream.resume(), 'close')))
  session.close()
  await gateway.finished(3)
  const told = gateway.recorded().map(({ path, version, outcome }) => `${path} ${version} ${outcome}`)
  assert.deepEqual(
    new Set(told),
    new Set(['/there/1 HTTP/2 passed', '/there/2 HTTP/2 passed', '/elsewhere HTTP/2 denied']),
  )
})

test('a WebSocket is one record, which is not slow for being long', async (t) => {
  const origin = await useOrigin(t)
  const server = new WebSocketServer({ server: origin.server })
  server.on('connection', (socket) => socket.on('message', (data) => socket.send(data)))
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend: { recorder: { slow: '5s' } } }))
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port()}/chat`)
  await once(client, 'open')
  client.send('hello')
  await once(client, 'message')
  client.close(1000)
  const record = await recordOf(gateway, ({ path }) => path === '/chat')
  assert.deepEqual([record.status, record.outcome, record.reason], [101, 'passed', null])
  assert.ok(record.bytesIn > 0 && record.bytesOut > 0)
})

test('a mirror is no request of a client', async (t) => {
  const origin = await useOrigin(t)
  const mirror = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { requestMirror: { backend: mirror.host } })]))
  await request(gateway.port())
  await until(() => mirror.seen.length === 1)
  await gateway.finished(1)
  assert.deepEqual(
    gateway.recorded().map(({ endpoint, outcome }) => [endpoint, outcome]),
    [[origin.host, 'passed']],
  )
})

test('an authorizer that says no, and one that is not there, are told apart', async (t) => {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, () => NO)
  const gone = `127.0.0.1:${await closedPort()}`
  const asking = (host: string, prefix: string): object =>
    routeTo(origin, { extAuth: { backendRef: { host } } }, pathPrefix(prefix))
  const gateway = await useGateway(t, httpConfig([asking(authorizer.host, '/no'), asking(gone, '/gone')]))
  await request(gateway.port(), { path: '/no' })
  await request(gateway.port(), { path: '/gone' })
  await gateway.finished(2)
  const no = await recordOf(gateway, ({ path }) => path === '/no')
  assert.deepEqual([no.outcome, no.reason?.policy, no.reason?.code], ['denied', 'extAuth', 'denied'])
  const unasked = await recordOf(gateway, ({ path }) => path === '/gone')
  assert.deepEqual(
    [unasked.outcome, unasked.reason?.code, unasked.reason?.values['failureMode']],
    ['denied', 'no_decision', 'FailClosed'],
  )
})

test('a processor that answers by itself is named, and one that fails has failed', async (t) => {
  const origin = await useOrigin(t)
  const processor = await useAnsweringProcessor(t, () => immediate(451, 'no'))
  const gone = `127.0.0.1:${await closedPort()}`
  const asking = (host: string, prefix: string): object =>
    routeTo(origin, { extProc: { backendRef: { host } } }, pathPrefix(prefix))
  const gateway = await useGateway(t, httpConfig([asking(processor.host, '/answered'), asking(gone, '/gone')]))
  await request(gateway.port(), { path: '/answered' })
  await request(gateway.port(), { path: '/gone' })
  await gateway.finished(2)
  const answered = await recordOf(gateway, ({ path }) => path === '/answered')
  assert.deepEqual(
    [answered.status, answered.outcome, answered.reason?.policy, answered.reason?.code],
    [451, 'denied', 'extProc', 'answered'],
  )
  const failed = await recordOf(gateway, ({ path }) => path === '/gone')
  assert.deepEqual([failed.status, failed.outcome, failed.reason?.code], [500, 'failed', 'failed'])
})

test('a streamed chat has its model and tokens; a guard that refuses one is the reason', async (t) => {
  const guard = { request: [{ regex: { action: 'Reject', builtins: ['Email'] } }] }
  const ai = { ai: { provider: { mock: {} } }, policies: { ai: { promptGuard: guard } } }
  const gateway = await useGateway(t, httpConfig([{ name: 'chat', backends: [ai] }]))
  const chat = (content: string) =>
    request(gateway.port(), {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'small', stream: true, messages: [{ role: 'user', content }] }),
    })
  await chat('hello there')
  const refused = await chat('write to ann@example.com')
  await gateway.finished(2)
  const passed = await recordOf(gateway, ({ outcome }) => outcome === 'passed')
  assert.deepEqual([passed.protocol, passed.llm?.requestModel, passed.llm?.streaming], ['llm', 'small', true])
  assert.ok((passed.llm?.outputTokens ?? 0) > 0)
  const denied = await recordOf(gateway, ({ outcome }) => outcome === 'denied')
  assert.deepEqual(
    [denied.reason?.kind, denied.reason?.policy, denied.reason?.code, denied.reason?.values['found']],
    ['PromptGuard', 'promptGuard', 'guard_reject', ['Email']],
  )
  assert.equal(refused.headers['x-portico-decision'], denied.id)
  assert.doesNotMatch(JSON.stringify(denied), /ann@/)
})

test('a stream that a guard ends has status 200, the error at its end, and the guard as its reason', async (t) => {
  let asked = 0
  const webhook = await useOrigin(t, (_, response) => {
    const action = ++asked === 1 ? {} : { body: 'no more of it', status_code: 451 }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ action }))
  })
  const words = Array.from({ length: 600 }, (_, at) => `word${at} `)
  const provider = await useOrigin(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const content of words)
      response.write(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content } }] })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  const promptGuard = { response: [{ webhook: { backendRef: { name: 'hook' } } }] }
  const ai = { provider: { openai: {}, host: '127.0.0.1', port: provider.port } }
  const gateway = await useGateway(t, {
    ...httpConfig([{ backends: [{ ai, policies: { ai: { promptGuard } } }] }]),
    backends: [{ name: 'hook', static: { host: '127.0.0.1', port: webhook.port } }],
  })
  const answer = await request(gateway.port(), {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'small', stream: true, messages: [{ role: 'user', content: 'hello' }] }),
  })
  assert.equal(answer.status, 200)
  assert.match(answer.body, /word1 [^]*"code":"guardrail_intervention"/)
  assert.doesNotMatch(answer.body, /word599/)
  await gateway.finished(1)
  const [record] = gateway.recorded()
  assert.deepEqual([record?.status, record?.outcome, record?.reason?.kind], [200, 'denied', 'PromptGuard'])
})

test('a tool call has its tool, and one that rules forbid says which', async (t) => {
  const server = await useMcpServer(t)
  const policies = { backend: { mcp: { authorization: { rules: ['mcp.tool.name != "echo"'] } } } }
  const free = await useMcpScene(t, { one: server })
  const session = await free.caller.begin()
  await session.ask('tools/call', { name: 'echo', arguments: { text: 'hi' } })
  const called = await recordOf(free.gateway, ({ mcp }) => mcp?.method === 'tools/call')
  assert.deepEqual(
    [called.protocol, called.mcp?.kind, called.mcp?.name, called.mcp?.target, called.outcome],
    ['mcp', 'tool', 'echo', 'one', 'passed'],
  )
  const ruled = await useMcpScene(t, { one: server }, { policies })
  const forbidden = await ruled.caller.begin()
  await forbidden.ask('tools/call', { name: 'echo', arguments: { text: 'hi' } })
  const denied = await recordOf(ruled.gateway, ({ mcp }) => mcp?.method === 'tools/call')
  assert.deepEqual(
    [denied.outcome, denied.reason?.code, denied.reason?.policy],
    ['denied', 'mcp_denied', 'mcpAuthorization'],
  )
})

test('a request that ends while the gateway drains, and one that a reload overtakes, are recorded', async (t) => {
  const answers: (() => void)[] = []
  const origin = await useOrigin(t, (_seen, response) => void answers.push(() => response.end('late')))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, {}, { name: 'before' })]))
  const first = request(gateway.port(), { path: '/reloaded' })
  await until(() => answers.length === 1)
  await gateway.reload(JSON.stringify(httpConfig([routeTo(origin, {}, { name: 'after' })])))
  answers[0]?.()
  await first
  const second = request(gateway.port(), { path: '/drained' })
  await until(() => answers.length === 2)
  gateway.drain()
  answers[1]?.()
  await second
  await gateway.finished(2)
  const reloaded = await recordOf(gateway, ({ path }) => path === '/reloaded')
  assert.deepEqual([reloaded.route, reloaded.outcome], ['before', 'passed'])
  const drained = await recordOf(gateway, ({ path }) => path === '/drained')
  assert.deepEqual([drained.route, drained.generation, drained.outcome], ['after', 2, 'passed'])
})
