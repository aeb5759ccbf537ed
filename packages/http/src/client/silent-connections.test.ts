import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { ServerDuplexStream } from '@grpc/grpc-js'
import { request } from '../../../gateway/src/testing/client.ts'
import { FakeTime } from '../../../gateway/src/testing/fake-time.ts'
import { textMethod, useGrpcClient, useTextServer } from '../../../gateway/src/testing/services/grpc.ts'
import { httpConfig, until, useGateway } from '../../../gateway/src/testing/scene.ts'
import { useSilentLink } from '../../../gateway/src/testing/http/silent-link.ts'
import { callUnary } from './grpc/call.ts'
import { GrpcStream } from './grpc/stream.ts'
import { PATIENCE_MS, PING_TIMEOUT_MS, QUIET_MS } from './http2/keepalive.ts'

/** HTTP/2 connections whose peer is gone without closing. */

interface Backend {
  port: number
  /** Methods and paths, in order. */
  seen: string[]
  sessions: ServerHttp2Session[]
  pings: number
}

/** Responds to all paths except those that begin with `/never` on the first connection. */
async function useBackend(t: TestContext): Promise<Backend> {
  const server = createServer()
  const sessions: ServerHttp2Session[] = []
  server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => {})
    session.on('ping', () => backend.pings++)
  })
  server.on('stream', (stream: ServerHttp2Stream, fields) => {
    stream.on('error', () => {})
    stream.resume()
    const path = String(fields[':path'])
    backend.seen.push(`${fields[':method']} ${path}`)
    if (path.startsWith('/never') && stream.session === sessions[0]) return
    if (path === '/stream') {
      stream.respond({ ':status': 200 })
      return void stream.write('part')
    }
    stream.respond({ ':status': 200, 'content-length': 2 })
    stream.end('ok')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const backend: Backend = { port: (server.address() as AddressInfo).port, seen: [], sessions, pings: 0 }
  return backend
}

/** A gateway in front of such a backend, with packets between the two that can get lost. */
async function useScene(t: TestContext, policies: object = {}) {
  const time = new FakeTime()
  const backend = await useBackend(t)
  const way = await useSilentLink(t, backend.port)
  const route = { policies, backends: [{ host: way.host, policies: { http: { version: 'HTTP2' } } }] }
  const gateway = await useGateway(t, httpConfig([route]), { deadlines: time.deadlines })
  return { time, backend, way, gateway, port: gateway.port() }
}

/** Advances the time until there is a response. */
async function passUntil<T>(time: FakeTime, ms: number, answer: Promise<T>): Promise<T> {
  const none = Symbol()
  for (;;) {
    const found = await Promise.race([answer, time.advance(ms).then(() => none)])
    if (found !== none) return await answer
  }
}

/** Advances the time until an unresponsive connection is closed. */
async function passSilently(time: FakeTime): Promise<void> {
  await time.advance(QUIET_MS)
  await time.advance(PATIENCE_MS)
  await time.advance(PING_TIMEOUT_MS)
}

test('calls on a dead connection end, and those that may be are sent again on another', async (t) => {
  const { time, way, gateway, backend, port } = await useScene(t)
  assert.equal((await request(port)).status, 200)
  const events = gateway.trace('request.path == "/never/traced"')
  const posted = request(port, { method: 'POST', path: '/never', body: 'x' })
  const traced = request(port, { path: '/never/traced' })
  const put = request(port, { method: 'PUT', path: '/never/put' })
  await until(() => backend.seen.length === 4)
  way.goSilent()
  await passSilently(time)
  const { status, body } = await posted
  assert.equal(status, 503)
  assert.match(body, /closed before the response: no answer to a ping in 20s$/)
  assert.equal((await put).status, 200)
  assert.equal((await traced).status, 200)
  assert.deepEqual(gateway.silences, [3])
  assert.equal((await request(port)).status, 200)
  assert.equal(way.connections, 2)
  const results = (await events).filter(({ message }) => message.type === 'backendCallResult')
  assert.deepEqual(
    results.map(({ message }) => message['error'] ?? message['status']),
    ['connection_lost: reused connection closed before the response: no answer to a ping in 20s', 200],
  )
})

test('an answer that breaks off there is cut off, not whole', async (t) => {
  const { time, way, gateway, port } = await useScene(t)
  const client = connect(port, '127.0.0.1')
  let text = ''
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  client.write('GET /stream HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => text.endsWith('4\r\npart\r\n'))
  way.goSilent()
  const closed = once(client, 'close')
  await passSilently(time)
  await closed
  assert.ok(text.endsWith('4\r\npart\r\n'), text)
  await gateway.finished(1)
  assert.match(gateway.records[0]?.error ?? '', /no answer to a ping in 20s/)
})

test('a call after a long pause meets no dead connection, whatever its method', async (t) => {
  const { time, way, gateway, port } = await useScene(t)
  assert.equal((await request(port)).status, 200)
  way.goSilent()
  await time.advance(QUIET_MS)
  const answer = await passUntil(time, 100, request(port, { method: 'POST', body: 'x' }))
  assert.equal(answer.status, 200)
  assert.equal(way.connections, 2)
  await time.advance(PING_TIMEOUT_MS)
  await until(() => gateway.silences.length === 1)
  assert.deepEqual(gateway.silences, [0])
})

test('a call after a long pause goes out on a connection that answers a ping', async (t) => {
  const { time, way, backend, port } = await useScene(t)
  for (let i = 1; i <= 5; i++) {
    assert.equal((await request(port, { method: 'POST', body: 'x' })).status, 200)
    await time.advance(QUIET_MS)
    assert.equal(backend.pings, i - 1)
  }
  assert.equal(way.connections, 1)
})

test('after a call timed out, the next call uses another connection while a ping is pending', async (t) => {
  const { time, way, backend, port } = await useScene(t, { timeouts: { request: '2s' } })
  assert.equal((await request(port)).status, 200)
  way.goSilent()
  assert.equal((await passUntil(time, 100, request(port, { path: '/late' }))).status, 504)
  const next = await passUntil(time, 16, request(port, { method: 'POST', body: 'x' }))
  assert.equal(next.status, 200)
  assert.deepEqual(backend.seen, ['GET /', 'POST /'])
  assert.equal(way.connections, 2)
})

test('a backend that is slow but there keeps its connection', async (t) => {
  const { time, way, backend, gateway, port } = await useScene(t, { timeouts: { request: '10m' } })
  const slow = request(port, { path: '/never' })
  await until(() => backend.seen.length === 1)
  await time.advance(QUIET_MS)
  await until(() => backend.pings === 1)
  assert.equal((await passUntil(time, 1_000, slow)).status, 504)
  assert.ok(backend.pings === 2 || backend.pings === 3, String(backend.pings))
  assert.deepEqual(gateway.silences, [])
  assert.equal(way.connections, 1)
})

test('calls of gRPC end with a code when their connection is dead, and the next ones are answered', async (t) => {
  const time = new FakeTime()
  const server = await useTextServer(t, {
    Unary: (call: { request: string }, done: (error: null, text: string) => void) => done(null, `${call.request}!`),
    Talk: (call: ServerDuplexStream<string, string>) => call.on('data', (text: string) => call.write(`${text}!`)),
  })
  const way = await useSilentLink(t, server)
  const client = useGrpcClient(t, way.port, time.deadlines)
  const ask = (text: string): Promise<string> =>
    new Promise((resolve) => {
      callUnary(textMethod('Unary'), text, { ...client, timeoutMs: 600_000 }, (error, response) =>
        resolve(error === null ? String(response) : `${error.code}: ${error.message}`),
      )
    })
  assert.equal(await ask('a'), 'a!')
  const messages: string[] = []
  const ended = Promise.withResolvers<unknown>()
  const talk = new GrpcStream(textMethod('Talk'), client, {
    message: (text) => messages.push(text),
    drained() {},
    ended: ended.resolve,
  })
  talk.send('b')
  await until(() => messages.length === 1)
  way.goSilent()
  talk.send('c')
  const unary = ask('d')
  await passSilently(time)
  assert.equal(await unary, '14: reused connection closed before the response: no answer to a ping in 20s')
  const error = (await ended.promise) as { code: number; message: string }
  assert.equal(error.code, 14)
  assert.match(error.message, /no answer to a ping in 20s/)
  assert.equal(await ask('e'), 'e!')
  assert.equal(way.connections, 2)
})

test('gRPC calls that time out one after the other do not all use the same dead connection', async (t) => {
  const time = new FakeTime()
  const server = await useTextServer(t, {
    Unary: (call: { request: string }, done: (error: null, text: string) => void) => done(null, `${call.request}!`),
  })
  const way = await useSilentLink(t, server)
  const client = useGrpcClient(t, way.port, time.deadlines)
  const ask = (text: string): Promise<string> =>
    new Promise((resolve) => {
      callUnary(textMethod('Unary'), text, { ...client, timeoutMs: 2_000 }, (error, response) =>
        resolve(error === null ? String(response) : `${error.code}: ${error.message}`),
      )
    })
  assert.equal(await ask('a'), 'a!')
  way.goSilent()
  const lost = ask('b')
  await time.advance(2_000)
  assert.equal(await lost, '4: no answer in time')
  const next = ask('c')
  await time.advance(PATIENCE_MS)
  assert.equal(await next, 'c!')
  assert.equal(way.connections, 2)
})
