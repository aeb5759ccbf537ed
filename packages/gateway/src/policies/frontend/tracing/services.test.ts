import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { test, type TestContext } from 'node:test'
import { useAuthorizer } from '../../../testing/services/authorizer.ts'
import { request } from '../../../testing/client.ts'
import { useHttp2Server } from '../../../testing/services/grpc.ts'
import { counting, useLimitServer } from '../../../testing/services/limit-server.ts'
import { McpCaller } from '../../../testing/mcp/mcp-caller.ts'
import { useMcpServer } from '../../../testing/mcp/mcp-server.ts'
import { type Collector, type SeenSpan, useGrpcCollector } from '../../../testing/otlp/otlp-collector.ts'
import { agree, immediate, useAnsweringProcessor } from '../../../testing/services/processor.ts'
import { closedPort, httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

const SERVER = 2

async function scene(t: TestContext, routes: object[], more: object = {}) {
  const collector = await useGrpcCollector(t)
  const tracing = { backendRef: { host: collector.host }, randomSampling: true }
  return { collector, gateway: await useGateway(t, httpConfig(routes, { frontend: { tracing }, ...more })) }
}

const server = ({ spans }: Collector): SeenSpan =>
  spans.findLast(({ kind }) => kind === SERVER) ?? assert.fail('no span of a request')
const named = ({ spans }: Collector, name: string): SeenSpan[] => spans.filter((span) => span.name === name)
const parentOf = ({ traceId, spanId }: SeenSpan) => `00-${traceId}-${spanId}-01`

test('calls of policies have spans, and the called services get their context', async (t) => {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, ({ attributes }) => {
    return attributes?.request?.http?.path === '/denied' ? { status: { code: 7, message: '', details: [] } } : {}
  })
  const limits = await useLimitServer(t, counting(10))
  const descriptors = [{ entries: [{ name: 'all', expression: '"x"' }] }]
  const policies = {
    extAuth: { backendRef: { host: authorizer.host } },
    rateLimit: { global: { backendRef: { host: limits.host }, domain: 'd', descriptors, timeout: '10s' } },
  }
  const { collector, gateway } = await scene(t, [routeTo(origin, policies)])
  await request(gateway.port(), { path: '/' })
  await collector.taken(4)
  const own = server(collector)
  for (const what of ['extAuth', 'rateLimit']) {
    const [call] = named(collector, what)
    assert.deepEqual([call?.parentId, call?.status, call?.attributes['portico.call']], [own.spanId, null, what])
    assert.equal(call?.attributes['grpc.status'], 0)
  }
  const [asked] = named(collector, 'extAuth')
  assert.equal(authorizer.metadata[0]?.['traceparent'], asked === undefined ? '' : parentOf(asked))

  await request(gateway.port(), { path: '/denied' })
  await collector.taken(6)
  const denied = server(collector)
  assert.deepEqual([denied.attributes['http.status'], denied.status], [403, null])
})

test('an authorizer that is not there is a fault of its span', async (t) => {
  const origin = await useOrigin(t)
  const extAuth = { backendRef: { host: `127.0.0.1:${await closedPort()}` }, http: {} }
  const { collector, gateway } = await scene(t, [routeTo(origin, { extAuth })])
  await request(gateway.port(), { path: '/' })
  await collector.taken(2)
  const [call] = named(collector, 'extAuth')
  assert.deepEqual([call?.status?.code, call?.attributes['error.type']], [2, 'connect_failed'])
})

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const chunk = (more: object) =>
  `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', model: 'm-2026', ...more })}\n\n`
const delta = (content: string, finish: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })

function chatTo(...providers: object[]): object {
  return { backends: [{ ai: { groups: providers.map((provider) => ({ providers: [provider] })) } }] }
}

const chat = (more: object = {}) => ({
  method: 'POST',
  path: '/v1/chat/completions',
  headers: { 'content-type': 'application/json', authorization: 'Bearer sk-client-secret' },
  body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'my secret question' }], ...more }),
})

test('an answer of gRPC that is none is a fault of its span, whatever its trailers say', async (t) => {
  const message = Buffer.from([0, 0, 0, 0, 0])
  const bodies: [Buffer, string, string][] = [
    [message.subarray(0, 3), '0', '13'],
    [Buffer.concat([message, message]), '0', '13'],
    [Buffer.alloc(0), '0', '13'],
    [message, 'x', '2'],
  ]
  for (const [body, status, type] of bodies) {
    const authorizer = await useHttp2Server(t, (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }))
      stream.end(body)
    })
    const extAuth = { backendRef: { host: `127.0.0.1:${authorizer}` } }
    const { collector, gateway } = await scene(t, [routeTo(await useOrigin(t), { extAuth })])
    assert.equal((await request(gateway.port())).status, 403)
    await collector.taken(2)
    const [call] = named(collector, 'extAuth')
    assert.deepEqual([call?.status?.code, call?.attributes['error.type']], [2, type])
  }
})

test('each provider that is asked has a span, with what it cost', async (t) => {
  const busy = await useOrigin(t, (_seen, response) => response.writeHead(503).end('{}'))
  const model = await useOrigin(t, (_seen, response) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'c-1', object: 'chat.completion', model: 'm-2026', choices, usage }))
  })
  const provider = (name: string, { port }: { port: number }) => ({ name, openai: {}, host: '127.0.0.1', port })
  const { collector, gateway } = await scene(t, [chatTo(provider('a', busy), provider('b', model))])
  await request(gateway.port(), chat())
  await collector.taken(3)
  const own = server(collector)
  const [first, second] = named(collector, 'chat m')
  assert.ok(first !== undefined && second !== undefined)
  assert.deepEqual([first.attributes['error.type'], first.attributes['gen_ai.usage.input_tokens']], ['503', undefined])
  const { attributes } = second
  assert.deepEqual(
    [
      attributes['portico.call'],
      attributes['gen_ai.operation.name'],
      attributes['gen_ai.provider.name'],
      attributes['gen_ai.request.model'],
      attributes['gen_ai.response.model'],
      attributes['gen_ai.response.id'],
      attributes['gen_ai.response.finish_reasons'],
      attributes['gen_ai.usage.input_tokens'],
      attributes['gen_ai.usage.output_tokens'],
      attributes['server.address'],
    ],
    ['llm', 'chat', 'openai', 'm', 'm-2026', 'c-1', ['stop'], 3, 2, '127.0.0.1'],
  )
  // Whoever adds up tokens would count them twice.
  assert.ok(Object.keys(own.attributes).every((name) => !name.startsWith('gen_ai.')))
  assert.deepEqual([first.parentId, second.parentId, own.status], [own.spanId, own.spanId, null])
  assert.equal(model.seen[0]?.headers['traceparent'], parentOf(second))
  const told = JSON.stringify(collector.spans, (_, value: unknown) => (typeof value === 'bigint' ? 0 : value))
  assert.doesNotMatch(told, /secret/)
})

test('a streamed chat ends with its stream, and one that the client leaves says so', async (t) => {
  const model = await useOrigin(t, ({ body }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta('a'))
    if (body.includes('"endless"')) return
    response.end(delta('b', 'length') + chunk({ choices: [], usage }) + 'data: [DONE]\n\n')
  })
  const { collector, gateway } = await scene(t, [
    chatTo({ name: 'a', openai: {}, host: '127.0.0.1', port: model.port }),
  ])
  await request(gateway.port(), chat({ stream: true }))
  await collector.taken(2)
  const [whole] = named(collector, 'chat m')
  assert.deepEqual(
    [
      whole?.attributes['gen_ai.response.finish_reasons'],
      whole?.attributes['gen_ai.usage.output_tokens'],
      whole?.status,
    ],
    [['length'], 2, null],
  )
  const { body } = chat({ stream: true, model: 'endless' })
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
  socket.write(head + body)
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))
  socket.destroy()
  await collector.taken(4)
  const [left] = named(collector, 'chat endless')
  assert.deepEqual([left?.status?.code, left?.attributes['error.type']], [2, 'ClientGone'])
  assert.equal(left?.attributes['http.status'], 200)
  assert.deepEqual([server(collector).status?.code, server(collector).attributes['error.type']], [2, 'ClientGone'])
})

test('a guard that asks a webhook has a span beside that of the model', async (t) => {
  const hook = await useOrigin(t, (_seen, response) => response.end('{"action":{}}'))
  const promptGuard = { request: [{ webhook: { backendRef: { name: 'hook' } } }] }
  const backends = [{ ai: { provider: { mock: {} } }, policies: { ai: { promptGuard } } }]
  const services = [{ name: 'hook', static: { host: '127.0.0.1', port: hook.port } }]
  const { collector, gateway } = await scene(t, [{ backends }], { backends: services })
  const { status } = await request(gateway.port(), chat())
  assert.equal(status, 200)
  await collector.taken(3)
  const [guard] = named(collector, 'guardrail')
  assert.deepEqual([guard?.parentId, guard?.status], [server(collector).spanId, null])
  assert.equal(hook.seen[0]?.headers['traceparent'], guard === undefined ? '' : parentOf(guard))
  assert.equal(named(collector, 'chat m').length, 1)
})

test('a message to several MCP servers has a span for each, and calls hang on them', async (t) => {
  const [one, two] = [await useMcpServer(t), await useMcpServer(t)]
  const program = fileURLToPath(new URL('../../../testing/mcp/stdio-server.mjs', import.meta.url))
  const targets = [
    { name: 'one', static: { host: '127.0.0.1', port: one.port } },
    { name: 'two', static: { host: '127.0.0.1', port: two.port } },
    { name: 'program', stdio: { cmd: process.execPath, args: [program] } },
  ]
  const { collector, gateway } = await scene(t, [{ ...pathPrefix('/mcp'), backends: [{ mcp: { targets } }] }])
  const session = await new McpCaller(gateway.port()).begin()
  await session.ask('tools/list')
  await gateway.finished(3)
  await collector.taken(1)
  const own = (): SeenSpan | undefined =>
    collector.spans.find((span) => span.kind === SERVER && span.name === 'tools/list')
  const lists = () => collector.spans.filter((span) => span.kind !== SERVER && span.name === 'tools/list')
  while (own() === undefined) await collector.taken(collector.spans.length + 1)
  assert.deepEqual(
    new Set(lists().map(({ attributes }) => attributes['mcp.target'])),
    new Set(['one', 'two', 'program']),
  )
  for (const list of lists()) assert.deepEqual([list.parentId, list.status], [own()?.spanId, null])
  const toOne = lists().find(({ attributes }) => attributes['mcp.target'] === 'one')
  const posts = () => collector.spans.filter(({ parentId }) => parentId === toOne?.spanId)
  // Its stream may end after the answer.
  while (posts().length === 0) await collector.taken(collector.spans.length + 1)
  const [post] = posts()
  assert.equal(post?.attributes['portico.call'], 'mcp')
  const heard = one.requests.find(({ body }) => body.includes('tools/list'))
  assert.equal(heard?.headers['traceparent'], post === undefined ? '' : parentOf(post))
})

test('a tool is in the name of its span, and one that fails is an error of it', async (t) => {
  const target = await useMcpServer(t, {
    setUp(mcp) {
      mcp.registerTool('fail', {}, () => ({ isError: true, content: [{ type: 'text', text: 'no' }] }))
    },
  })
  const targets = [{ name: 'one', static: { host: '127.0.0.1', port: target.port } }]
  const { collector, gateway } = await scene(t, [{ ...pathPrefix('/mcp'), backends: [{ mcp: { targets } }] }])
  const session = await new McpCaller(gateway.port()).begin()
  await session.ask('tools/call', { name: 'fail', arguments: {} })
  while (named(collector, 'tools/call fail').length < 2) await collector.taken(collector.spans.length + 1)
  const call = named(collector, 'tools/call fail').find(({ kind }) => kind !== SERVER)
  assert.deepEqual(
    [call?.attributes['gen_ai.tool.name'], call?.attributes['mcp.method.name'], call?.attributes['error.type']],
    ['fail', 'tools/call', 'tool_error'],
  )
  assert.equal(call?.status?.code, 2)
  const own = named(collector, 'tools/call fail').find(({ kind }) => kind === SERVER)
  assert.deepEqual([own?.attributes['mcp.outcome'], own?.status], ['tool_error', null])
})

test('a stream to a processor is one span, whether it lets the request pass, answers it or fails', async (t) => {
  const origin = await useOrigin(t)
  const processor = await useAnsweringProcessor(t, (message) => agree(message))
  const refusing = await useAnsweringProcessor(t, () => immediate(403, 'no'))
  const extProc = (host: string) => ({ extProc: { backendRef: { host } } })
  const { collector, gateway } = await scene(t, [
    routeTo(origin, extProc(processor.host), pathPrefix('/passes')),
    routeTo(origin, extProc(refusing.host), pathPrefix('/refused')),
    routeTo(origin, extProc(`127.0.0.1:${await closedPort()}`), pathPrefix('/closed')),
  ])
  const seen = async (path: string, spans: number) => {
    collector.spans.length = 0
    const { status } = await request(gateway.port(), { method: 'POST', path, body: 'x' })
    await until(() => collector.spans.length === spans)
    const [call, ...others] = named(collector, 'extProc')
    assert.deepEqual(
      [others, call?.parentId, call?.attributes['portico.call']],
      [[], server(collector).spanId, 'extProc'],
    )
    return { status, call }
  }
  const passed = await seen('/passes', 3)
  assert.deepEqual([passed.status, passed.call?.status, passed.call?.attributes['grpc.status']], [200, null, 0])
  assert.deepEqual(
    processor.metadata.map((metadata) => metadata.get('traceparent')),
    [[passed.call === undefined ? '' : parentOf(passed.call)]],
  )
  const refused = await seen('/refused', 2)
  assert.equal(refused.status, 403)
  const closed = await seen('/closed', 2)
  assert.deepEqual([closed.status, closed.call?.status?.code], [500, 2])
})

test('times of models, MCP messages, calls and services outside lead to traces too', async (t) => {
  const authorizer = await useAuthorizer(t, () => ({}))
  const processor = await useAnsweringProcessor(t, (message) => agree(message))
  const target = await useMcpServer(t)
  const origin = await useOrigin(t)
  const asking = {
    extAuth: { backendRef: { host: authorizer.host } },
    extProc: { backendRef: { host: processor.host } },
  }
  const targets = [{ name: 'one', static: { host: '127.0.0.1', port: target.port } }]
  const { collector, gateway } = await scene(t, [
    { ...pathPrefix('/v1'), backends: [{ ai: { provider: { mock: {} } } }] },
    { ...pathPrefix('/mcp'), backends: [{ mcp: { targets } }] },
    routeTo(origin, asking),
  ])
  await request(gateway.port(), chat({ stream: true }))
  await (await new McpCaller(gateway.port()).begin()).ask('tools/list')
  await request(gateway.port(), { path: '/asked' })
  await until(() => collector.spans.some(({ attributes }) => attributes['http.path'] === '/asked'))
  const text = gateway.metrics('openMetrics')
  const known = new Set(collector.spans.map(({ traceId }) => traceId))
  for (const series of [
    'portico_gen_ai_client_token_usage_bucket{gen_ai_token_type="output"',
    'portico_gen_ai_server_request_duration_bucket{',
    'portico_gen_ai_server_time_to_first_token_bucket{',
    'portico_mcp_request_duration_seconds_bucket{',
    'portico_upstream_call_duration_seconds_bucket{kind="Primary"',
    'portico_upstream_call_duration_seconds_bucket{kind="Policy"',
    'portico_callout_duration_seconds_bucket{kind="ExtAuthz",outcome="answered"',
    'portico_callout_duration_seconds_bucket{kind="ExtProc",outcome="answered"',
  ]) {
    const lines = text.split('\n').filter((line) => line.startsWith(series))
    const traces = lines.flatMap((line) => / # \{trace_id="(\w+)",span_id="\w{16}"\} /.exec(line)?.[1] ?? [])
    assert.ok(traces.length > 0 && traces.every((trace) => known.has(trace)), `${series}: ${lines.join('\n')}`)
  }
})
