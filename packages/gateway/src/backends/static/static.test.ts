import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  connect as connectHttp2,
  createServer,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../testing/scene.ts'

/** A backend that speaks HTTP/2 without TLS. */
async function useHttp2Origin(
  t: TestContext,
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
) {
  const server = createServer()
  server.on('stream', onStream)
  const sessions: ServerHttp2Session[] = []
  server.on('session', (session) => sessions.push(session))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, sessions }
}

function useHttp2Client(t: TestContext, port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  t.after(() => session.destroy())
  return session
}

async function get(session: ClientHttp2Session, path: string): Promise<{ status: number; body: string }> {
  const stream = session.request({ ':path': path })
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }]
  let body = ''
  for await (const chunk of stream) body += String(chunk)
  return { status: headers[':status'], body }
}

test('a named backend is used by every route that names it', async (t) => {
  const origin = await useOrigin(t)
  const backends = [{ name: 'app', static: { host: '127.0.0.1', port: origin.port } }]
  const routes = ['/a', '/b'].map((path) => ({ matches: [{ path: { exact: path } }], backends: [{ backend: 'app' }] }))
  const gateway = await useGateway(t, httpConfig(routes, { backends }))
  for (const path of ['/a', '/b']) assert.equal((await request(gateway.port(), { path })).status, 200)
})

test('HTTP/2 from a client goes to an HTTP/1.1 backend when the policy says so', async (t) => {
  const origin = await useOrigin(t, (seen, response) => response.end(`${seen.method} ${seen.url} ${seen.headers.host}`))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { backend: { http: { version: 'HTTP1' } } })]))
  const session = useHttp2Client(t, gateway.port())
  const { status, body } = await get(session, '/a?b=1')
  assert.equal(status, 200)
  assert.equal(body, `GET /a?b=1 127.0.0.1:${gateway.port()}`)
})

test('plain HTTP/2 stays HTTP/2, and HTTP/1.1 stays HTTP/1.1', async (t) => {
  const backend = await useHttp2Origin(t, (stream, headers) => {
    stream.respond({ ':status': 200 })
    stream.end(`h2 ${headers[':path'] as string}`)
  })
  const origin = await useOrigin(t, (_seen, response) => response.end('h1'))
  const routes = [
    { ...routeTo(backend), matches: [{ path: { pathPrefix: '/h2' } }] },
    { ...routeTo(origin), matches: [{ path: { pathPrefix: '/h1' } }] },
  ]
  const gateway = await useGateway(t, httpConfig(routes))
  assert.equal((await get(useHttp2Client(t, gateway.port()), '/h2')).body, 'h2 /h2')
  assert.equal((await request(gateway.port(), { path: '/h1' })).body, 'h1')
})

test('gRPC goes over HTTP/2 even for an HTTP/1.1 client', async (t) => {
  const backend = await useHttp2Origin(t, (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    stream.end('frame')
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const headers = { 'content-type': 'application/grpc' }
  assert.equal((await request(gateway.port(), { method: 'POST', headers, body: 'x' })).body, 'frame')
})

test('a stream goes both ways at once and ends with trailers', async (t) => {
  const backend = await useHttp2Origin(t, (stream, headers) => {
    assert.equal(headers.te, 'trailers')
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('data', (chunk: Buffer) => stream.write(`echo ${chunk.toString()}`))
    stream.on('end', () => stream.end())
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'fine' }))
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const session = useHttp2Client(t, gateway.port())
  const stream = session.request({
    ':method': 'POST',
    ':path': '/svc/Method',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  const trailers = once(stream, 'trailers')
  for (const word of ['one', 'two', 'three']) {
    stream.write(word)
    const [chunk] = (await once(stream, 'data')) as [Buffer]
    assert.equal(chunk.toString(), `echo ${word}`)
  }
  stream.end()
  const [fields] = (await trailers) as [IncomingHttpHeaders]
  assert.deepEqual([fields['grpc-status'], fields['grpc-message']], ['0', 'fine'])
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.grpcStatus, 0)
})

test('many streams of one client share the connections of the backend', async (t) => {
  const backend = await useHttp2Origin(t, (stream, headers) => {
    stream.respond({ ':status': 200 })
    stream.end(headers[':path'] as string)
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const session = useHttp2Client(t, gateway.port())
  await get(session, '/first')
  const bodies = await Promise.all(Array.from({ length: 50 }, (_, i) => get(session, `/${i}`)))
  assert.deepEqual(
    bodies.map(({ body }) => body),
    Array.from({ length: 50 }, (_, i) => `/${i}`),
  )
  assert.ok(backend.sessions.length < 5)
})

test('a burst at the start does not open a connection for every request', async (t) => {
  const backend = await useHttp2Origin(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.end()
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const session = useHttp2Client(t, gateway.port())
  const answers = await Promise.all(Array.from({ length: 80 }, () => get(session, '/')))
  assert.ok(answers.every(({ status }) => status === 200))
  assert.equal(backend.sessions.length, 1)
})

test('an HTTP/2 connection that nobody uses is closed after its time', async (t) => {
  const backend = await useHttp2Origin(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.end()
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]), { poolIdleTimeoutMs: 50 })
  const session = useHttp2Client(t, gateway.port())
  await get(session, '/')
  await until(() => backend.sessions[0]!.destroyed)
  assert.equal((await get(session, '/')).status, 200)
  assert.equal(backend.sessions.length, 2)
})

test('a client that resets its stream cancels the call', async (t) => {
  let isOpen = false
  let isCancelled = false
  const backend = await useHttp2Origin(t, (stream) => {
    isOpen = true
    stream.on('error', () => {})
    stream.on('aborted', () => (isCancelled = true))
    stream.respond({ ':status': 200 })
    stream.write('begin')
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const stream = useHttp2Client(t, gateway.port()).request({ ':path': '/' })
  stream.on('error', () => {})
  await until(() => isOpen)
  stream.close(8)
  await until(() => isCancelled)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'ClientGone')
})
