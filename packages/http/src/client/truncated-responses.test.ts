import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { DATA, END_STREAM, FrameClient, HEADERS, RST_STREAM, WINDOW_UPDATE } from '../testing/frame-client.ts'
import { createAuthority } from '../../../gateway/src/testing/certificates.ts'
import { type BackendConnection, useFrameBackend } from '../../../gateway/src/testing/http/frame-backend.ts'
import { httpConfig, routeTo, until, useGateway, useTcpServer } from '../../../gateway/src/testing/scene.ts'

/** Responses of HTTP/2 backends that end before END_STREAM: clients, log and record must see a failure. */

const GET: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a'],
]
const NO_ERROR = 0
const INTERNAL_ERROR = 2
const CANCEL = 8

type Ending = (connection: BackendConnection, stream: number) => void

const ENDINGS: Record<string, Ending> = {
  'RST_STREAM(NO_ERROR)': (connection, stream) => connection.reset(stream, NO_ERROR),
  'RST_STREAM(CANCEL)': (connection, stream) => connection.reset(stream, CANCEL),
  'RST_STREAM(INTERNAL_ERROR)': (connection, stream) => connection.reset(stream, INTERNAL_ERROR),
  'GOAWAY(NO_ERROR) and FIN': (connection, stream) => {
    connection.goaway(stream, NO_ERROR)
    connection.socket.end()
  },
  'GOAWAY(INTERNAL_ERROR) and FIN': (connection, stream) => {
    connection.goaway(stream, INTERNAL_ERROR)
    connection.socket.end()
  },
  FIN: (connection) => connection.socket.end(),
  'a closed socket': (connection) => connection.socket.destroy(),
  'a reset socket': (connection) => connection.raw.resetAndDestroy(),
}

const authority = createAuthority()
const certificate = authority.issue({ names: ['127.0.0.1'] })

for (const isTls of [false, true]) {
  const over = isTls ? 'TLS' : 'plain TCP'
  for (const [name, end] of Object.entries(ENDINGS)) {
    test(`a response cut by ${name} over ${over} is cut for clients, and is recorded as failed`, async (t) => {
      const backend = await useFrameBackend(
        t,
        (connection, stream) => {
          connection.head(stream, [['content-type', 'text/event-stream']])
          connection.data(stream, 'data: half\n\n')
        },
        isTls ? certificate : null,
      )
      const tls = isTls ? { backend: { tls: { insecureSkipVerify: 'All' } } } : {}
      const policies = { backend: { http: { version: 'HTTP2' }, ...tls.backend } }
      const gateway = await useGateway(t, httpConfig([routeTo(backend, policies)]))

      const old = connect(gateway.port(), '127.0.0.1').on('error', () => {})
      t.after(() => old.destroy())
      let text = ''
      old.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
      old.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
      await until(() => text.includes('half'))
      end(backend.connections[0]!, 1)
      await until(() => old.destroyed || text.endsWith('\r\n0\r\n\r\n'))
      assert.match(text, /^HTTP\/1.1 200 /)
      assert.doesNotMatch(text, /\r\n0\r\n/)

      const client = await FrameClient.open(gateway.port())
      t.after(() => client.destroy())
      client.headers(1, GET)
      await client.wait(({ type, stream }) => type === DATA && stream === 1)
      const connection = backend.connections.at(-1)!
      end(connection, connection === backend.connections[0] ? 3 : 1)
      const last = await client.wait(
        ({ type, flags, stream }) => stream === 1 && (type === RST_STREAM || (flags & END_STREAM) !== 0),
      )
      assert.equal(last?.type, RST_STREAM)
      assert.equal(last.payload.readUInt32BE(0), INTERNAL_ERROR)

      await gateway.finished(2)
      for (const { status, reason, error } of gateway.records) {
        assert.deepEqual({ status, reason }, { status: 200, reason: 'UpstreamFailure' })
        assert.match(error ?? '', /ended/)
      }
      for (const { outcome, reason } of gateway.recorded()) {
        assert.equal(outcome, 'failed')
        assert.equal(reason?.code, 'connection_lost')
      }
      assert.match(gateway.metrics(), /requests_total\{[^}]*status="200",reason="UpstreamFailure"[^}]*\} 2/)
    })
  }
}

test('END_STREAM before the connection dies makes a response whole', async (t) => {
  const backend = await useFrameBackend(t, (connection, stream) => {
    connection.head(stream)
    connection.data(stream, 'whole', true)
    connection.socket.end()
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
  for (const count of [1, 2, 3]) {
    const client = await FrameClient.open(gateway.port())
    client.headers(1, GET)
    const last = await client.wait(({ type, flags }) => type === RST_STREAM || (type <= HEADERS && (flags & 1) !== 0))
    assert.equal(last?.type, DATA)
    client.destroy()
    await gateway.finished(count)
  }
  assert.ok(gateway.records.every(({ reason }) => reason === 'Upstream'))
})

test('a slow client gets all of a response whose backend left after END_STREAM', async (t) => {
  // More than the sockets in between buffer, less than the window of one stream.
  const pieces = 14
  const backend = await useFrameBackend(t, (connection, stream) => {
    connection.head(stream)
    for (let i = 1; i <= pieces; i++) connection.data(stream, 'x'.repeat(16_000), i === pieces)
    connection.socket.end()
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
  const client = await FrameClient.open(gateway.port(), windowOf(1000))
  t.after(() => client.destroy())
  client.headers(1, GET)
  await until(() => backend.connections[0]?.raw.destroyed === true)
  const more = Buffer.alloc(4)
  more.writeUInt32BE(1_000_000)
  client.send(WINDOW_UPDATE, 0, 1, more)
  client.send(WINDOW_UPDATE, 0, 0, more)
  const last = await client.wait(({ type, flags }) => type === RST_STREAM || (type === DATA && (flags & 1) !== 0))
  assert.equal(last?.type, DATA)
  const received = client.frames
    .filter(({ type }) => type === DATA)
    .reduce((sum, { payload }) => sum + payload.length, 0)
  assert.equal(received, pieces * 16_000)
})

/** SETTINGS_INITIAL_WINDOW_SIZE. */
function windowOf(bytes: number): Buffer {
  const setting = Buffer.alloc(6)
  setting.writeUInt16BE(4)
  setting.writeUInt32BE(bytes, 2)
  return setting
}

test('RST_STREAM(NO_ERROR) after END_STREAM leaves a response whole though its request has not ended', async (t) => {
  const backend = await useFrameBackend(t, (connection, stream) => {
    connection.head(stream)
    connection.data(stream, 'enough', true)
    connection.reset(stream, NO_ERROR)
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
  const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
  t.after(() => socket.destroy())
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegin\r\n')
  await once(socket, 'close')
  assert.match(text, /^HTTP\/1.1 200 [^]*enough\r\n0\r\n\r\n$/)
})

test('a gRPC call cut by its backend ends with the status that the backend itself would have given', async (t) => {
  const cases: [Ending, number][] = [
    [(connection) => connection.socket.destroy(), 14],
    [(connection, stream) => connection.reset(stream, NO_ERROR), 13],
    [(connection, stream) => connection.reset(stream, INTERNAL_ERROR), 13],
    [(connection, stream) => connection.reset(stream, CANCEL), 1],
    [(connection, stream) => connection.reset(stream, 11), 8],
  ]
  for (const [end, expected] of cases) {
    const message = Buffer.from([0, 0, 0, 0, 4, 104, 97, 108, 102])
    let cut = (): void => {}
    const backend = await useFrameBackend(t, (connection, stream) => {
      connection.head(stream, [['content-type', 'application/grpc']])
      connection.send(DATA, 0, stream, message)
      cut = () => end(connection, stream)
    })
    const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
    const client = new Client(`127.0.0.1:${gateway.port()}`, credentials.createInsecure())
    t.after(() => client.close())
    const call = client.makeServerStreamRequest('/test.Texts/Stream', (text: string) => Buffer.from(text), String, 'hi')
    const seen: string[] = []
    const ended = new Promise<number>((resolve) => {
      call.on('error', (error: ServiceError) => resolve(error.code))
      call.on('end', () => resolve(0))
    })
    call.on('data', (text: string) => {
      seen.push(text)
      cut()
    })
    assert.equal(await ended, expected)
    assert.deepEqual(seen, ['half'])
    await gateway.finished(1)
    assert.deepEqual(
      gateway.records.map(({ reason, grpcStatus }) => [reason, grpcStatus]),
      [['UpstreamFailure', expected]],
    )
    assert.equal(gateway.recorded()[0]?.outcome, 'failed')
  }
})

for (const [kind, listener] of [
  ['a WebSocket', {}],
  ['a TCP route', { protocol: 'TCP' }],
] as const) {
  test(`${kind} whose backend is reset is reset for its client, and is recorded as failed`, async (t) => {
    const backend = await useTcpServer(t, (socket) =>
      socket.once('data', () => {
        if (!('protocol' in listener)) {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
        }
        socket.write('half')
      }),
    )
    const route = { backends: [{ host: backend.host }] }
    const gateway = await useGateway(t, httpConfig([route], { listener }))
    const client = connect(gateway.port(), '127.0.0.1')
    t.after(() => client.destroy())
    const failed = once(client, 'error')
    let text = ''
    client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    client.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    await until(() => text.endsWith('half'))
    backend.sockets[0]!.resetAndDestroy()
    const [error] = (await failed) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ECONNRESET')
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.reason, 'UpstreamFailure')
    assert.equal(gateway.records[0]!.error, 'backend connection broke inside the tunnel')
    assert.equal(gateway.recorded()[0]?.outcome, 'failed')
  })
}

test('a request body cut by its client is reset toward an HTTP/2 backend, and never ended', async (t) => {
  for (const framing of ['content-length: 100\r\n\r\nhalf', 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n']) {
    const backend = await useFrameBackend(t, () => {})
    const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { http: { version: 'HTTP2' } } })]))
    const client = connect(gateway.port(), '127.0.0.1').on('error', () => {})
    client.write(`POST / HTTP/1.1\r\nhost: a\r\n${framing}`)
    await until(() => backend.connections[0]?.received.some(({ type }) => type === DATA) ?? false)
    client.destroy()
    const { received } = backend.connections[0]!
    await until(() => received.some(({ type }) => type === RST_STREAM))
    assert.deepEqual(
      received.filter(({ type, flags }) => type === DATA && (flags & END_STREAM) !== 0),
      [],
      framing,
    )
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.reason, 'ClientGone')
  }
})
