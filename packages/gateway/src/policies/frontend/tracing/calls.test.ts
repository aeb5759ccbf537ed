import assert from 'node:assert/strict'
import { connect as connectSocket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { request, sendRaw } from '../../../testing/client.ts'
import { type Collector, type SeenSpan, useGrpcCollector } from '../../../testing/otlp/otlp-collector.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'

const SERVER = 2

async function scene(t: TestContext, routes: object[], more: object = {}, options: object = {}) {
  const collector = await useGrpcCollector(t)
  const tracing = { backendRef: { host: collector.host }, randomSampling: true }
  const config = httpConfig(routes, { frontend: { tracing }, ...more })
  return { collector, gateway: await useGateway(t, config, options) }
}

const server = ({ spans }: Collector): SeenSpan => spans.find(({ kind }) => kind === SERVER) ?? assert.fail('no span')
const calls = ({ spans }: Collector): SeenSpan[] => spans.filter(({ kind }) => kind !== SERVER)
const outcome = ({ attributes, status }: SeenSpan) => [
  attributes['http.status'],
  status?.code,
  attributes['error.type'],
]

test('each attempt has a span, which the backend knows it by', async (t) => {
  let asked = 0
  const origin = await useOrigin(t, (_seen, response) => response.writeHead(asked++ < 2 ? 503 : 200).end('x'))
  const { collector, gateway } = await scene(t, [routeTo(origin, { retry: { attempts: 3, codes: [503] } })])
  await request(gateway.port(), { path: '/' })
  await collector.taken(4)
  const attempts = calls(collector)
  assert.deepEqual(attempts.map(outcome), [
    [503, 2, '503'],
    [503, 2, '503'],
    [200, undefined, undefined],
  ])
  assert.deepEqual(
    attempts.map(({ attributes }) => attributes['http.request.resend_count']),
    [undefined, 1, 2],
  )
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers['traceparent']),
    attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
  )
  const own = server(collector)
  assert.ok(
    attempts.every(({ parentId, attributes }) => parentId === own.spanId && attributes['endpoint'] === origin.host),
  )
  assert.deepEqual([own.status, own.attributes['retry.attempt']], [null, 2])
})

test('an attempt that takes too long says so, and so does a request', async (t) => {
  const silent = await useTcpServer(t, (socket) => socket.resume())
  const slow = { backends: [{ host: silent.host, policies: { http: { requestTimeout: '50ms' } } }] }
  const attempt = await scene(t, [slow])
  await request(attempt.gateway.port(), { path: '/' })
  await attempt.collector.taken(2)
  assert.deepEqual(calls(attempt.collector).map(outcome), [[undefined, 2, 'response_timeout']])
  assert.deepEqual(outcome(server(attempt.collector)), [504, 2, 'Timeout'])

  const whole = await scene(t, [routeTo(silent, { timeouts: { request: '50ms' } })])
  await request(whole.gateway.port(), { path: '/' })
  await whole.collector.taken(2)
  assert.deepEqual(calls(whole.collector).map(outcome), [[undefined, 2, 'Timeout']])
  assert.deepEqual(outcome(server(whole.collector)), [504, 2, 'Timeout'])
})

test('an answer that breaks off is an error of both, whatever its status was', async (t) => {
  const broken = await useTcpServer(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'))
  })
  const { collector, gateway } = await scene(t, [routeTo(broken)])
  await sendRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await collector.taken(2)
  assert.deepEqual(outcome(server(collector)), [200, 2, 'UpstreamFailure'])
  const [call] = calls(collector)
  assert.deepEqual([call?.attributes['http.status'], call?.status?.code], [200, 2])
})

test('a client that leaves is told of in both, and streams last until then', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
  })
  const { collector, gateway } = await scene(t, [routeTo(origin)])
  const socket = connectSocket(gateway.port(), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))
  assert.deepEqual(collector.spans, [], 'nothing is over yet')
  socket.destroy()
  await collector.taken(2)
  assert.deepEqual(collector.spans.map(outcome), [
    [200, 2, 'ClientGone'],
    [200, 2, 'ClientGone'],
  ])
})

test('a copy for a mirror has a span of its own, and never the trace of the request as its own', async (t) => {
  const [origin, mirror] = [await useOrigin(t), await useOrigin(t)]
  const { collector, gateway } = await scene(t, [routeTo(origin, { requestMirror: { backend: mirror.host } })])
  await request(gateway.port(), { path: '/' })
  await collector.taken(3)
  const own = server(collector)
  const copy = calls(collector).find(({ name }) => name === 'mirror')
  assert.equal(copy?.parentId, own.spanId)
  assert.equal(mirror.seen[0]?.headers['traceparent'], `00-${own.traceId}-${copy?.spanId}-01`)
  assert.notEqual(origin.seen[0]?.headers['traceparent'], mirror.seen[0]?.headers['traceparent'])
})

test('keys that a backend is shown in a query are in no span', async (t) => {
  const origin = await useOrigin(t)
  const auth = { key: 'hunter-2', location: { queryParameter: { name: 'key' } } }
  const { collector, gateway } = await scene(t, [{ backends: [{ host: origin.host, policies: { auth } }] }])
  await request(gateway.port(), { path: '/a?b=1', headers: { authorization: 'Bearer hunter-3' } })
  await collector.taken(2)
  assert.match(origin.seen[0]?.url ?? '', /hunter-2/)
  assert.doesNotMatch(
    JSON.stringify(collector.spans, (_, value) => (typeof value === 'bigint' ? 0 : value)),
    /hunter/,
  )
})

test('a WebSocket lasts until it is closed', async (t) => {
  const origin = await useTcpServer(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
      // A close frame.
      socket.once('data', () => socket.end(Buffer.from([0x88, 0])))
    })
  })
  const { collector, gateway } = await scene(t, [routeTo(origin)])
  const socket = connectSocket(gateway.port(), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))
  assert.deepEqual(collector.spans, [])
  socket.write('bye')
  await collector.taken(2)
  assert.deepEqual(collector.spans.map(outcome), [
    [101, undefined, undefined],
    [101, undefined, undefined],
  ])
  await until(() => gateway.connectionCount() === 0)
})
