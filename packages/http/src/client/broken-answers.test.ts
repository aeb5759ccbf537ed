import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { Deadline } from '../runtime/deadlines.ts'
import { exchangeRaw, request } from '../../../gateway/src/testing/client.ts'
import { HastyDeadlines } from '../../../gateway/src/testing/http/hasty-deadlines.ts'
import { httpConfig, pathPrefix, routeTo, until, useGateway, useTcpServer } from '../../../gateway/src/testing/scene.ts'

/** Invalid responses of backends, and what clients get for them. */

/** A backend that sends `answer` for the head of each request. */
function useBackend(t: TestContext, answer: (socket: Socket, head: string) => void) {
  return useTcpServer(t, (socket) =>
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1')
      if (text.includes(' HTTP/1.1\r\n')) answer(socket, text)
    }),
  )
}

/** Returns how a connection ends for a client: the received text, and whether it was reset. */
async function outcome(port: number, message: string): Promise<{ text: string; isReset: boolean }> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  let isReset = false
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  socket.on('error', (error: NodeJS.ErrnoException) => (isReset = error.code === 'ECONNRESET'))
  socket.write(message)
  await once(socket, 'close')
  return { text, isReset }
}

test('a chunked answer that breaks off is reset for a client of HTTP/1.0, which knows no other sign', async (t) => {
  const backend = await useBackend(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n')
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const client = connect(gateway.port(), '127.0.0.1')
  const closed = once(client, 'error')
  client.write('GET / HTTP/1.0\r\nhost: a\r\n\r\n')
  // Waits for the text first: a reset may drop data in flight.
  let text = ''
  for await (const chunk of on(client)) if ((text += chunk).endsWith('half')) break
  backend.sockets[0]!.destroy()
  const [error] = (await closed) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ECONNRESET')
})

test('a whole chunked answer ends like any other for a client of HTTP/1.0', async (t) => {
  const backend = await useBackend(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfull\r\n0\r\n\r\n')
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const { text, isReset } = await outcome(gateway.port(), 'GET / HTTP/1.0\r\nhost: a\r\n\r\n')
  assert.match(text, /connection: close\r\n\r\nfull$/)
  assert.equal(isReset, false)
})

test('a bad chunk that comes with the head gives 502', async (t) => {
  const bodies = ['zz\r\n', '4\r\nhalf\r\nzz\r\n', '4\r\nlonger\r\n', '0\r\nbad trailer\r\n\r\n', '-1\r\n']
  let next = 0
  const backend = await useBackend(t, (socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${bodies[next++]}`),
  )
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  for (const body of bodies) {
    const answer = await request(gateway.port())
    assert.equal(answer.status, 502, JSON.stringify(body))
    assert.match(answer.body, /^upstream response invalid: malformed response body/)
  }
  await gateway.finished(bodies.length)
  assert.ok(gateway.records.every((record) => record.status === 502 && record.reason === 'UpstreamFailure'))
})

test('a backend that does not speak HTTP fails with its first impossible byte', async (t) => {
  const greetings = [
    'SSH-2.0-OpenSSH_9.2\r\n',
    '220 mail.test ESMTP\r\n',
    '\x15\x03\x01\x00\x02\x02\x46',
    'HTTP/2.0 200 OK\r\n',
    'HTTP/1.1 200 OK\nconte',
    'HTTP/1.1 200 OK\r\nx: 1\ny: 2',
    'HTTP/1.1 200 OK\r\nx: 1\ry',
    'HTTP/1.1 200 OK\r\nx: \0',
    'HTTP/1.1 2x',
    '\r\n',
    'h',
  ]
  let next = 0
  const backend = await useBackend(t, (socket) => socket.write(greetings[next++]!, 'latin1'))
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  for (const greeting of greetings) {
    const { status, body } = await request(gateway.port())
    assert.equal(status, 502, JSON.stringify(greeting))
    assert.match(body, /^upstream response invalid: malformed response head/)
  }
})

test('a head may come byte by byte', async (t) => {
  const whole =
    'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\nHTTP/1.1 200 \r\nx: \xe9\t1\r\ncontent-length: 2\r\n\r\nok'
  const backend = await useBackend(t, async (socket) => {
    socket.setNoDelay(true)
    for (const char of whole) await new Promise((resolve) => socket.write(char, 'latin1', resolve))
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const ask = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
  const text = await exchangeRaw(gateway.port(), ask, (received) => received.endsWith('ok'))
  assert.match(text, /^HTTP\/1.1 103 [^]*HTTP\/1.1 200 [^]*x: \xe9\t1\r\n/)
})

test('a head over 256 KiB gives 502, also when its end comes with it', async (t) => {
  const line = `x-long: ${'x'.repeat(8000)}\r\n`
  const head = (size: number) => {
    const start = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n'
    const lines = Math.floor((size - start.length - 2) / line.length)
    const text = start + line.repeat(lines)
    return `${text}y: ${'y'.repeat(size - text.length - 7)}\r\n\r\n`
  }
  for (const [size, expected] of [
    [262_144, 200],
    [262_145, 502],
    [400_000, 502],
  ] as const) {
    assert.equal(head(size).length, size)
    const backend = await useBackend(t, (socket) => socket.write(head(size)))
    const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
    assert.equal((await request(gateway.port())).status, expected, String(size))
  }
})

test('interim answers without end give 502', async (t) => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'
  for (const [count, expected] of [
    [100, 200],
    [101, 502],
  ] as const) {
    const final = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
    const backend = await useBackend(t, (socket) => socket.write(hint.repeat(count) + final))
    const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
    const text = await exchangeRaw(
      gateway.port(),
      'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
      () => false,
    )
    assert.match(text, new RegExp(`HTTP/1.1 ${expected} (?!.*HTTP/1.1)`, 's'))
  }
})

/** An HTTP/2 backend whose streams `answer` serves; returns a route to it. */
async function useHttp2Backend(t: TestContext, answer: (stream: ServerHttp2Stream, count: number) => void) {
  const server = createServer()
  const sessions: ServerHttp2Session[] = []
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (stream: ServerHttp2Stream, fields) => {
    stream.on('error', () => {})
    answer(stream, Number(fields['x-count'] ?? 0))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return routeTo({ host }, { backend: { http: { version: 'HTTP2' } } })
}

test('interim answers without end give 502 over HTTP/2 too', async (t) => {
  const route = await useHttp2Backend(t, (stream, count) => {
    for (let i = 0; i < count; i++) stream.additionalHeaders({ ':status': 103, link: '<a>' })
    stream.respond({ ':status': 200, 'content-length': 2 })
    stream.end('ok')
  })
  const gateway = await useGateway(t, httpConfig([route]))
  for (const [count, expected] of [
    ['100', 200],
    ['101', 502],
  ] as const) {
    const ask = `GET / HTTP/1.1\r\nhost: a\r\nx-count: ${count}\r\nconnection: close\r\n\r\n`
    const text = await exchangeRaw(gateway.port(), ask, () => false)
    assert.match(text, new RegExp(`HTTP/1.1 ${expected} (?!.*HTTP/1.1)`, 's'))
  }
})

test('an answer before the end of the request that ends the connection says so', async (t) => {
  const backend = await useBackend(t, (socket) => socket.write('HTTP/1.1 413 No\r\ncontent-length: 2\r\n\r\nno'))
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  for (const framing of ['content-length: 1000000\r\n\r\nbegin', 'transfer-encoding: chunked\r\n\r\n5\r\nbegin\r\n']) {
    const text = await exchangeRaw(gateway.port(), `POST / HTTP/1.1\r\nhost: a\r\n${framing}`, () => false)
    assert.match(text, /^HTTP\/1.1 413 [^]*connection: close\r\n\r\nno$/)
  }
})

test('nobody waits longer than half an hour for an answer to begin', async (t) => {
  const backend = await useBackend(t, (socket, head) => {
    if (head.startsWith('GET /begins')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha')
  })
  const deadlines = new HastyDeadlines({ 60_000: 20 })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]), { deadlines })
  const begun = connect(gateway.port(), '127.0.0.1')
  t.after(() => begun.destroy())
  begun.write('GET /begins HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(begun, 'data')
  const { status, body } = await request(gateway.port())
  assert.equal(status, 504)
  assert.equal(body, 'upstream call timeout')
  // A response that has begun may take any time.
  assert.equal(backend.sockets[0]!.destroyed, false)
  backend.sockets[0]!.write('lf')
  await until(() => gateway.records.length === 2)
  assert.deepEqual(
    gateway.records.map((record) => [record.status, record.reason]),
    [
      [504, 'Timeout'],
      [200, 'Upstream'],
    ],
  )
})

test('nobody waits longer than half an hour over HTTP/2 either', async (t) => {
  const route = await useHttp2Backend(t, () => {})
  const gateway = await useGateway(t, httpConfig([route]), { deadlines: new HastyDeadlines({ 60_000: 20 }) })
  const { status, body } = await request(gateway.port())
  assert.equal(status, 504)
  assert.equal(body, 'upstream call timeout')
})

/** Minutes that pass instantly, and are counted. */
class CountedMinutes extends HastyDeadlines {
  minutes = 0

  constructor() {
    super({ 60_000: 1 })
  }

  override set(deadline: Deadline, ms: number): void {
    if (ms === 60_000) this.minutes++
    super.set(deadline, ms)
  }
}

test('models and a limit of the config may take longer', async (t) => {
  const deadlines = new CountedMinutes()
  const backend = await useBackend(t, async (socket) => {
    const start = deadlines.minutes
    await until(() => deadlines.minutes > start + 60)
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
  })
  const { port } = backend
  const routes = [
    { ...routeTo(backend, { backend: { http: { requestTimeout: '3h' } } }), ...pathPrefix('/slow') },
    { backends: [{ ai: { provider: { openai: {}, host: '127.0.0.1', port } } }] },
  ]
  const gateway = await useGateway(t, httpConfig(routes), { deadlines })
  assert.equal((await request(gateway.port(), { path: '/slow' })).status, 200)
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
  const answer = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
  assert.equal(answer.status, 200)
})

test('data after a protocol upgrade may take longer', async (t) => {
  const deadlines = new CountedMinutes()
  const backend = await useBackend(t, async (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    const start = deadlines.minutes
    await until(() => deadlines.minutes > start + 60)
    socket.write('late')
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]), { deadlines })
  const ask = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
  const text = await exchangeRaw(gateway.port(), ask, (received) => received.endsWith('late'))
  assert.match(text, /^HTTP\/1.1 101 [^]*late$/)
})

/** Yields the data of a socket, chunk by chunk. */
async function* on(socket: Socket): AsyncGenerator<string> {
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    yield chunk.toString('latin1')
  }
}
