import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { AdminCredentials } from '../credentials.ts'
import { useAdmin } from '../../testing/admin/admin-servers.ts'
import { configOf } from '../../testing/admin/config-source.ts'
import { until, useTcpServer } from '../../testing/scene.ts'
import type { ReachableListener } from './reachable-listener.ts'
import type { SendCall, SendEvent } from './send-view.ts'

test('a request goes to the listener as it is written, and its answer is told piece by piece', async (t) => {
  const { send, server, received } = await scene(t, (socket) => {
    socket.write('HTTP/1.1 201 Made\r\nX-One: 1\r\nx-one: 2\r\ncontent-type: text/plain\r\n\r\nfirst ')
    socket.end('second')
  })
  const events = await send({
    method: 'POST',
    path: '/a?b=%20c',
    headers: [
      ['X-Two', 'a'],
      ['x-two', 'b'],
    ],
    body: 'größe',
  })
  assert.equal(
    received().replace(/\r\n/g, '\n'),
    `POST /a?b=%20c HTTP/1.1\nhost: 127.0.0.1:${server.port}\nX-Two: a\nx-two: b\ncontent-length: 7\nconnection: close\n\ngröße`,
  )
  const [head] = events
  assert.deepEqual(head, {
    type: 'head',
    status: 201,
    headers: [
      ['x-one', '1'],
      ['x-one', '2'],
      ['content-type', 'text/plain'],
    ],
  })
  assert.equal(bodyOf(events), 'first second')
  const end = events.at(-1)
  assert.ok(end?.type === 'end')
  assert.deepEqual([end.error, end.isCut, end.bytes, end.record], [null, false, 12, null])
})

test('letters that are cut between pieces come whole, and what is no text comes in Base64', async (t) => {
  const letters = Buffer.from('naïve 漢字')
  const { send } = await scene(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/problem+json\r\n\r\n')
    for (const byte of letters) socket.write(Buffer.of(byte))
    socket.end()
  })
  assert.equal(bodyOf(await send({})), 'naïve 漢字')
  for (const head of ['content-type: image/png', 'content-type: text/plain\r\ncontent-encoding: gzip']) {
    const binary = await scene(t, (socket) => socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n\u0001\u0002`))
    const [, body] = await binary.send({})
    assert.deepEqual(body, { type: 'body', base64: 'AQI=' }, head)
  }
})

test('redirects are answers, not orders', async (t) => {
  const elsewhere = await useTcpServer(t, (socket) => socket.end())
  const { send } = await scene(t, (socket) =>
    socket.end(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${elsewhere.port}/\r\ncontent-length: 0\r\n\r\n`),
  )
  const [head] = await send({})
  assert.ok(head?.type === 'head' && head.status === 302)
  assert.equal(elsewhere.sockets.length, 0)
})

test('no field can end its line, name another address or speak for the connection', async (t) => {
  const { server, admin } = await scene(t, (socket) => socket.end())
  const elsewhere = await useTcpServer(t, (socket) => socket.end())
  const bad: [Record<string, unknown>, RegExp][] = [
    [{ path: `http://127.0.0.1:${elsewhere.port}/` }, /^path: /],
    [{ path: '*' }, /^path: /],
    [{ path: '' }, /^path: /],
    [{ path: '/a HTTP/1.1\r\nx: y' }, /^path: /],
    [{ path: '/ü' }, /^path: /],
    [{ path: '/a\n' }, /^path: /],
    [{ method: 'GET / HTTP/1.1\r\nhost: x\r\n\r\nGET' }, /^method: /],
    [{ method: 'connect' }, /^method: CONNECT/],
    [{ method: 7 }, /^method: /],
    [{ host: 'a\r\nx: y' }, /^host: /],
    [{ host: `evil@127.0.0.1` }, /^host: /],
    [{ host: 'a/b' }, /^host: /],
    [{ headers: [['a', 'b\r\nc: d']] }, /^headers: /],
    [{ headers: [['a\r\nb', 'c']] }, /^headers: /],
    [{ headers: [['a', 'b\u0000']] }, /^headers: /],
    [{ headers: [['a', '漢']] }, /^headers: /],
    [{ headers: [['a b', 'c']] }, /^headers: /],
    [{ headers: [['a']] }, /^headers: /],
    [{ headers: { a: 'b' } }, /^headers: /],
    [{ headers: Array.from({ length: 101 }, () => ['a', 'b']) }, /^headers: /],
    ...['Host', 'connection', 'Transfer-Encoding', 'content-length', 'upgrade', 'TE', 'trailer', 'expect'].map(
      (name): [Record<string, unknown>, RegExp] => [{ headers: [[name, 'x']] }, /cannot be sent/],
    ),
    [{ body: { a: 1 } }, /^body: /],
    [{ trace: 'yes' }, /^trace: /],
    [{ address: '127.0.0.1' }, /^unknown field "address"/],
    [{ port: elsewhere.port }, /^unknown field "port"/],
    [{ url: 'http://127.0.0.1/' }, /^unknown field "url"/],
    [{ __proto__x: 1 }, /^unknown field/],
    [{ listener: undefined }, /^listener: /],
  ]
  for (const [fields, problem] of bad) {
    const { status, body } = await post(admin, JSON.stringify({ ...CALL, ...fields }))
    assert.equal(status, 400, JSON.stringify(fields))
    assert.match(body, problem, JSON.stringify(fields))
  }
  for (const body of ['null', '[]', '"x"', '{', '']) assert.equal((await post(admin, body)).status, 400, body)
  assert.equal(server.sockets.length + elsewhere.sockets.length, 0)
})

test('other sites cannot make it send: not by a rebound name, a form, or a page', async (t) => {
  const { admin, server } = await scene(t, (socket) => socket.end())
  const port = new URL(admin).port
  const cases: [Record<string, string>, number][] = [
    [{ host: `evil.example:${port}` }, 403],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'x-portico-same-origin': '0' }, 403],
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ]
  for (const [headers, status] of cases)
    assert.equal((await post(admin, JSON.stringify(CALL), headers)).status, status, JSON.stringify(headers))
  assert.equal((await fetch(`${admin}/api/send`)).status, 405)
  assert.equal(server.sockets.length, 0)
})

test('with a token only who has it sends', async (t) => {
  const { admin, server } = await scene(t, (socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'), {
    token: 'sesame',
  })
  assert.equal((await post(admin, JSON.stringify(CALL))).status, 401)
  assert.equal(server.sockets.length, 0)
  assert.equal((await post(admin, JSON.stringify(CALL), { authorization: 'Bearer sesame' })).status, 200)
})

test('a call has a bound, an answer has one, and so has what is open at once', async (t) => {
  const { admin, server, send } = await scene(t, (socket, head) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n')
    if (head.includes('/endless')) socket.end('x'.repeat(17 * 1024 * 1024))
  })
  const tooBig = await post(admin, JSON.stringify({ ...CALL, body: 'x'.repeat(8 * 1024 * 1024) }))
  assert.equal(tooBig.status, 413)
  const events = await send({ path: '/endless' })
  const end = events.at(-1)
  assert.ok(end?.type === 'end')
  assert.deepEqual([end.isCut, end.bytes, bodyOf(events).length], [true, 16 * 1024 * 1024, 16 * 1024 * 1024])
  const open = Array.from({ length: 16 }, () => begin(admin, JSON.stringify(CALL)))
  await Promise.all(open.map(({ answered }) => answered))
  assert.equal((await post(admin, JSON.stringify(CALL))).status, 503)
  for (const { leave } of open) leave()
  // A client that disconnects cancels the request.
  await until(() => server.sockets.every(({ destroyed }) => destroyed))
})

test('an error is reported, and ends the stream', async (t) => {
  const { send } = await scene(t, (socket) => socket.destroy())
  const [end, ...others] = await send({})
  assert.ok(end?.type === 'end' && others.length === 0)
  assert.match(end.error ?? '', /closed the connection/)
  const broken = await scene(t, (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'))
  const events = await broken.send({})
  const last = events.at(-1)
  assert.ok(last?.type === 'end' && last.error !== null)
  assert.equal(bodyOf(events), 'half')
})

const CALL: SendCall = { bind: 'bind/1', listener: 'bind/1/web', method: 'GET', path: '/' }

type OnConnection = (socket: Socket, head: string) => void

async function scene(t: TestContext, onConnection: OnConnection, { token = null }: { token?: string | null } = {}) {
  let received = ''
  const server = await useTcpServer(t, (socket) => {
    let isAnswered = false
    socket.on('data', (data) => {
      received += String(data)
      if (!isAnswered) onConnection(socket, String(data))
      isAnswered = true
    })
  })
  const plain = { isTls: false, hostname: '', proxyHeader: null, isHttp2: false }
  const listener: ReachableListener = { address: '127.0.0.1', port: server.port, ...plain }
  const { at } = await useAdmin(t, {
    credentials: new AdminCredentials(token),
    config: { ...configOf(), findListener: () => listener },
  })
  const admin = `http://${at}`
  const send = async (fields: Partial<SendCall>): Promise<SendEvent[]> => {
    const { status, body } = await post(admin, JSON.stringify({ ...CALL, ...fields }))
    assert.equal(status, 200, body)
    return eventsOf(body)
  }
  return { admin, server, send, received: () => received }
}

const HERE = { 'content-type': 'application/json', 'x-portico-same-origin': '1' }

function begin(admin: string, body: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(admin)
  const sent = request({ hostname, port, path: '/api/send', method: 'POST', headers: { ...HERE, ...headers } })
  const answered = Promise.withResolvers<{ status: number; body: () => Promise<string> }>()
  sent.once('response', (response) =>
    answered.resolve({ status: response.statusCode ?? 0, body: () => text(response) }),
  )
  sent.on('error', answered.reject)
  sent.end(body)
  return { answered: answered.promise, leave: () => sent.destroy() }
}

async function post(admin: string, body: string, headers: Record<string, string> = {}) {
  const { status, body: read } = await begin(admin, body, headers).answered
  return { status, body: await read() }
}

function eventsOf(body: string): SendEvent[] {
  const data = body.split('\n\n').filter((frame) => frame.startsWith('data: '))
  return data.map((frame) => JSON.parse(frame.slice('data: '.length)) as SendEvent)
}

function bodyOf(events: readonly SendEvent[]): string {
  return events.map((event) => (event.type === 'body' && 'text' in event ? event.text : '')).join('')
}
