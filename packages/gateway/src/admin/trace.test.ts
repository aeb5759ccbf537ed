import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { AdminCredentials } from './credentials.ts'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import type { TraceClient } from '../telemetry/trace/trace-hub.ts'
import { useAdmin } from '../testing/admin/admin-servers.ts'
import { eventually } from '../testing/process.ts'

test('the stream begins with ready, has one frame for each event, and ends after the last', async (t) => {
  for (const method of ['POST', 'GET']) {
    const { admin, watchers } = await start(t)
    const stream = await open(admin, { method })
    assert.equal(stream.response.statusCode, 200)
    assert.equal(stream.response.headers['content-type'], 'text/event-stream')
    assert.equal(stream.response.headers['cache-control'], 'no-cache')
    assert.equal(stream.response.headers['access-control-allow-origin'], undefined)
    const { client, expression } = watchers[0]!
    assert.equal(expression, null)
    client.ready()
    const events = [event('requestStarted', 'line\nbreak'), event('requestFinished')]
    for (const one of events) client.event(one)
    client.end()
    await once(stream.response, 'end')
    const frames = events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
    assert.equal(stream.received(), `: ready\n\n${frames}`)
    await eventually('told that it is over', () => watchers[0]!.isOver)
  }
})

test('nothing is said before ready, and a comment each quiet second after it', async (t) => {
  const { admin, watchers } = await start(t)
  const stream = await open(admin)
  const other = await open(admin)
  watchers[1]!.client.ready()
  // For another one, that was opened later, a quiet second has passed.
  await eventually('kept alive', () => other.received().includes('keepalive'))
  watchers[1]!.client.end()
  assert.equal(stream.received(), '')
  watchers[0]!.client.ready()
  const alive = ': ready\n\n: keepalive\n\n: keepalive\n\n'
  await eventually('kept alive', () => stream.received().startsWith(alive))
  watchers[0]!.client.end()
  await once(stream.response, 'end')
})

test('the expression is handed over as it is, and a bad one is refused with its place', async (t) => {
  const { admin, watchers } = await start(t, {
    check: (text) => (text === 'bad +' ? 'column 6: unexpected end' : null),
  })
  const expression = 'request.path == "/a b&c=d+é" && source.port > 1'
  await open(admin, { path: `/debug/trace?expression=${encodeURIComponent(expression)}` })
  assert.equal(watchers[0]!.expression, expression)
  const refused = await call(admin, { path: '/debug/trace?expression=bad%20%2B' })
  assert.deepEqual([refused.status, refused.body], [400, 'invalid expression: column 6: unexpected end\n'])
  assert.equal(watchers.length, 1)
})

test('unknown parameters, two expressions and other methods are refused', async (t) => {
  const { admin, watchers } = await start(t)
  const unknown = await call(admin, { path: '/debug/trace?expresion=true' })
  assert.equal(unknown.status, 400)
  assert.match(unknown.body, /^unknown parameter "expresion"\nusage: /)
  assert.equal((await call(admin, { path: '/debug/trace?expression=a&expression=b' })).status, 400)
  for (const method of ['HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
    const reply = await call(admin, { method })
    assert.deepEqual([reply.status, reply.headers.allow], [405, 'POST, GET'], method)
  }
  assert.equal(watchers.length, 0)
})

test('one stream too many is refused', async (t) => {
  const { admin, watchers } = await start(t, { isFull: true })
  const reply = await call(admin)
  assert.deepEqual([reply.status, reply.body], [503, 'too many traces wait for requests\n'])
  assert.equal(watchers.length, 0)
})

test('foreign hosts, origins and sites, and callers without the token, arm nothing', async (t) => {
  const { admin, watchers } = await start(t, {}, 's3cret')
  const port = admin.split(':')[1]!
  const authorization = 'Bearer s3cret'
  for (const [headers, status] of [
    [{}, 401],
    [{ authorization: 'Bearer wrong' }, 401],
    [{ authorization, host: `evil.example:${port}` }, 403],
    [{ authorization, origin: 'http://evil.example' }, 403],
    [{ authorization, 'sec-fetch-site': 'cross-site' }, 403],
    [{ authorization, 'sec-fetch-site': 'same-site' }, 403],
  ] as const) {
    for (const method of ['POST', 'GET']) assert.equal((await call(admin, { method, headers })).status, status)
  }
  assert.equal(watchers.length, 0)
  const own = { authorization, origin: `http://${admin}`, 'sec-fetch-site': 'same-origin' }
  assert.equal((await open(admin, { headers: own })).response.statusCode, 200)
})

test('a client that leaves is told to the source, also before ready and with a body unread', async (t) => {
  const { admin, watchers } = await start(t)
  const early = await open(admin)
  early.response.destroy()
  await eventually('noticed', () => watchers[0]!.isOver)
  const [host, port] = admin.split(':')
  const socket = connect(Number(port), host)
  socket.write(`POST /debug/trace HTTP/1.1\r\nhost: ${admin}\r\ncontent-length: 5\r\n\r\nhello`)
  await once(socket, 'data')
  watchers[1]!.client.ready()
  socket.destroy()
  await eventually('noticed', () => watchers[1]!.isOver)
  watchers[1]!.client.event(event('requestStarted'))
  watchers[1]!.client.end()
})

test('a client that does not read loses events, hears how many, and always hears the end', async (t) => {
  const { admin, watchers } = await start(t)
  const stream = await open(admin)
  stream.response.pause()
  const { client } = watchers[0]!
  client.ready()
  const filler = 'x'.repeat(100_000)
  const sent = 200
  for (let index = 0; index < sent; index++) {
    client.event({ ...event('requestSnapshot', filler), eventEnd: index })
    // Events that the socket accepts are in the kernel; only events that find the queue full are lost.
    if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  client.event({ ...event('requestFinished'), eventEnd: sent })
  client.end()
  stream.response.resume()
  await once(stream.response, 'end')
  const frames = stream.received().split('\n\n').slice(1, -1)
  const events = frames.map((frame) => JSON.parse(frame.slice('data: '.length)) as TraceEvent)
  assert.deepEqual(
    events.slice(-2).map(({ message, severity }) => [message.type, severity]),
    [
      ['dropped', 'warn'],
      ['requestFinished', 'info'],
    ],
  )
  const lost = events.reduce((sum, { message }) => sum + Number(message['count'] ?? 0), 0)
  assert.ok(lost > 0)
  assert.equal(events.filter(({ message }) => message.type === 'requestSnapshot').length + lost, sent)
  const order = events.map(({ eventEnd }) => eventEnd)
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  )
})

test('streams end at once when the servers close', async (t) => {
  const { admin, running, watchers } = await start(t)
  const [quiet, claimed] = [await open(admin), await open(admin)]
  watchers[1]!.client.ready()
  watchers[1]!.client.event(event('requestStarted'))
  const ends = [once(quiet.response, 'end'), once(claimed.response, 'end')]
  await Promise.all([running.close(), ...ends])
  assert.ok(watchers.every(({ isOver }) => isOver))
})

interface Watcher {
  expression: string | null
  client: TraceClient
  isOver: boolean
}

async function start(
  t: TestContext,
  trace: { check?: (expression: string) => string | null; isFull?: boolean } = {},
  adminToken: string | null = null,
) {
  const watchers: Watcher[] = []
  const { running, at } = await useAdmin(t, {
    credentials: new AdminCredentials(adminToken),
    trace: {
      isFull: false,
      check: () => null,
      watch(expression, client) {
        const watcher: Watcher = { expression, client, isOver: false }
        watchers.push(watcher)
        return () => (watcher.isOver = true)
      },
      ...trace,
    },
  })
  return { admin: at, running, watchers }
}

interface Call {
  path?: string
  method?: string
  headers?: Record<string, string>
}

async function send(address: string, options: Call): Promise<IncomingMessage> {
  const [host, port] = address.split(':')
  const sent = request({ host, port: Number(port), agent: false, method: 'POST', path: '/debug/trace', ...options })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

async function open(address: string, options: Call = {}) {
  const response = await send(address, options)
  let received = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => (received += chunk))
  response.on('error', () => {})
  return { response, received: () => received }
}

async function call(address: string, options: Call = {}) {
  const response = await send(address, options)
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

function event(type: string, filler = ''): TraceEvent {
  return { eventStart: null, eventEnd: 0, severity: 'info', message: { type, ...(filler !== '' && { filler }) } }
}
