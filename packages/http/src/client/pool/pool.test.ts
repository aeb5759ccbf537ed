import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { exchangeRaw, request } from '../../../../gateway/src/testing/client.ts'
import { httpConfig, routeTo, until, useGateway, useTcpServer } from '../../../../gateway/src/testing/scene.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** A backend that responds to each request head by `answer`, and counts connections and requests. */
async function useBackend(t: TestContext, answer: (socket: Socket, connection: number, nth: number) => void) {
  const counts = { requests: 0 }
  const server = await useTcpServer(t, (socket) => {
    const connection = server.sockets.length
    let nth = 0
    socket.on('data', (chunk: Buffer) => {
      if (!chunk.toString('latin1').includes('HTTP/1.1\r\n')) return
      counts.requests++
      answer(socket, connection, ++nth)
    })
  })
  return { ...server, counts }
}

test('a connection is used again, across clients', async (t) => {
  const backend = await useBackend(t, (socket) => socket.write(OK))
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  for (let i = 0; i < 5; i++) assert.equal((await request(gateway.port())).body, 'ok')
  assert.equal(backend.sockets.length, 1)
})

test('concurrent requests get connections of their own', async (t) => {
  const waiting: Socket[] = []
  const backend = await useBackend(t, (socket) => {
    waiting.push(socket)
    if (waiting.length === 3) for (const each of waiting) each.write(OK)
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  await Promise.all([1, 2, 3].map(() => request(gateway.port())))
  assert.equal(backend.sockets.length, 3)
})

test('an idle connection is closed after its time', async (t) => {
  const backend = await useBackend(t, (socket) => socket.write(OK))
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]), { poolIdleTimeoutMs: 50 })
  await request(gateway.port())
  await until(() => backend.sockets[0]!.readableEnded || backend.sockets[0]!.destroyed)
  assert.equal((await request(gateway.port())).status, 200)
  assert.equal(backend.sockets.length, 2)
})

test('a connection that the backend is about to close is not used again', async (t) => {
  const answers = { short: 'keep-alive: timeout=1, max=5\r\n', long: 'Keep-Alive: max=5, timeout=600\r\n', none: '' }
  for (const [kind, line] of Object.entries(answers)) {
    const backend = await useBackend(t, (socket) => socket.write(OK.replace('\r\n\r\n', `\r\n${line}\r\n`)))
    const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
    for (let i = 0; i < 3; i++) assert.equal((await request(gateway.port(), { method: 'POST' })).status, 200)
    assert.equal(backend.sockets.length, kind === 'short' ? 3 : 1, kind)
  }
})

test('a stale connection is replaced without anybody noticing, when the request can be sent twice', async (t) => {
  const backend = await useBackend(t, (socket, connection, nth) => {
    if (connection === 1 && nth === 2) socket.resetAndDestroy()
    else socket.write(OK)
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  await request(gateway.port())
  assert.equal((await request(gateway.port())).status, 200)
  assert.equal(backend.sockets.length, 2)
  assert.equal(backend.counts.requests, 3)
})

test('a request that must not be sent twice fails on a stale connection', async (t) => {
  for (const options of [{ method: 'POST' }, { method: 'PUT', body: 'x' }]) {
    const backend = await useBackend(t, (socket, _connection, nth) => {
      if (nth === 2) socket.resetAndDestroy()
      else socket.write(OK)
    })
    const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
    await request(gateway.port())
    const { status } = await request(gateway.port(), options)
    assert.equal(status, 503)
    assert.equal(backend.sockets.length, 1)
  }
})

test('a first use that fails is not repeated', async (t) => {
  const backend = await useBackend(t, (socket) => socket.destroy())
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const { status, body } = await request(gateway.port())
  assert.equal(status, 503)
  assert.equal(body, 'upstream call failed: connection closed before the response')
  assert.equal(backend.counts.requests, 1)
})

test('an idle connection that sends data is destroyed, and the data reaches no client', async (t) => {
  const backend = await useBackend(t, (socket, connection) =>
    socket.write(connection === 1 ? OK : OK.replace('ok', 'me')),
  )
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  await request(gateway.port())
  backend.sockets[0]!.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil')
  await until(() => backend.sockets[0]!.destroyed)
  assert.equal((await request(gateway.port())).body, 'me')
})

test('bytes behind a response make the connection useless, not the response', async (t) => {
  const backend = await useBackend(t, (socket) => socket.write(`${OK}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`))
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  for (let i = 0; i < 3; i++) assert.equal((await request(gateway.port())).body, 'ok')
  assert.equal(backend.sockets.length, 3)
})

test('a response that is not well framed gives 502', async (t) => {
  const broken = [
    'nonsense\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok',
    'HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\nok',
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nbad name: 1\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nfolded: 1\r\n 2\r\ncontent-length: 0\r\n\r\n',
    'HTTP/1.1 100 Continue\r\nconnection: close\r\n\r\n',
  ]
  let next = 0
  const backend = await useBackend(t, (socket) => socket.write(broken[next++]!))
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  for (const text of broken) {
    const { status, body } = await request(gateway.port())
    assert.equal(status, 502, text)
    assert.match(body, /^upstream response invalid: /)
  }
  assert.equal(backend.sockets.length, broken.length)
})

test('a response that breaks off cannot be taken for a whole one', async (t) => {
  const halves = [
    'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
  ]
  let next = 0
  const backend = await useBackend(t, (socket) => socket.end(halves[next++]!))
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  for (const half of halves) {
    const text = await exchangeRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', () => false)
    assert.match(text, /half(\r\n)?$/, half)
  }
  await gateway.finished(2)
  assert.deepEqual(
    gateway.records.map((record) => record.reason),
    ['UpstreamFailure', 'UpstreamFailure'],
  )
})

test('a body that only the end of the connection ends is passed on whole', async (t) => {
  const backend = await useBackend(t, (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end'))
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const { body, headers } = await request(gateway.port())
  assert.equal(body, 'until the end')
  assert.equal(headers['transfer-encoding'], 'chunked')
})

test('interim responses reach the client before the final one', async (t) => {
  const backend = await useBackend(t, (socket) =>
    socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n${OK}`),
  )
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const ask = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
  const text = await exchangeRaw(gateway.port(), ask, (received) => received.endsWith('ok'))
  assert.match(text, /^HTTP\/1.1 103 Early Hints\r\nlink: <\/a.css>\r\n\r\nHTTP\/1.1 200 OK/)
})

test('a response that comes before the request ended is passed on, and both connections end', async (t) => {
  const backend = await useBackend(t, (socket) => socket.write('HTTP/1.1 413 No\r\ncontent-length: 2\r\n\r\nno'))
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const head = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n'
  const text = await exchangeRaw(gateway.port(), `${head}begin`, () => false)
  assert.match(text, /^HTTP\/1.1 413 [^]*no$/)
  await until(() => backend.sockets[0]!.destroyed || backend.sockets[0]!.readableEnded)
})

test('a client that leaves cancels the call', async (t) => {
  const backend = await useBackend(t, () => {})
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const client = connect(gateway.port(), '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => backend.counts.requests === 1)
  client.destroy()
  await until(() => backend.sockets[0]!.destroyed || backend.sockets[0]!.readableEnded)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'ClientGone')
})
