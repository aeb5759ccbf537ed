import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { type AddressInfo, connect as dial, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { acceptOf } from '@portico/http/websocket'
import { httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'

/** A client of HTTP/2 that knows extended CONNECT (RFC 8441). */
async function useClient(t: TestContext, port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  t.after(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

function open(session: ClientHttp2Session, headers: Record<string, string | number> = {}): ClientHttp2Stream {
  const stream = session.request(
    {
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'http',
      ':authority': 'shop.example',
      ':path': '/chat',
      'sec-websocket-version': '13',
      ...headers,
    },
    { endStream: false },
  )
  stream.on('error', () => {})
  return stream
}

async function answerTo(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders & { ':status'?: number }> {
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  return headers
}

/** A masked frame of text, as clients send them; shorter than 126 bytes. */
function frame(text: string): Buffer {
  const bytes = Buffer.from(text)
  const mask = Buffer.from([1, 2, 3, 4])
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length]), mask, bytes.map((byte, i) => byte ^ mask[i % 4]!)])
}

/** A masked frame without a status code. */
const CLOSE_FRAME = Buffer.from([0x88, 0x80, 1, 2, 3, 4])

async function read(stream: ClientHttp2Stream, length: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let received = 0
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    received += chunk.length
  })
  stream.resume()
  await until(() => received >= length)
  stream.pause().removeAllListeners('data')
  return Buffer.concat(chunks)
}

async function useEchoOrigin(t: TestContext) {
  const origin = await useOrigin(t)
  const server = new WebSocketServer({ server: origin.server })
  const keys: (string | undefined)[] = []
  server.on('connection', (socket, message) => {
    keys.push(message.headers['sec-websocket-key'])
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  return { ...origin, keys }
}

/** A backend that speaks HTTP/2 alone and, if it is to, takes WebSockets inside streams. */
async function useHttp2Backend(
  t: TestContext,
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  enableConnectProtocol = true,
) {
  const server = createServer({ settings: { enableConnectProtocol } })
  const seen: IncomingHttpHeaders[] = []
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    seen.push(headers)
    stream.on('error', () => {})
    onStream(stream, headers)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen, sockets }
}

const HTTP2 = { backend: { http: { version: 'HTTP2' } } }

function echo(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200 })
  stream.pipe(stream)
}

describe('a WebSocket over HTTP/2', () => {
  it('is offered, and reaches a backend of HTTP/1.1', async (t) => {
    const origin = await useEchoOrigin(t)
    const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
    const session = await useClient(t, gateway.port())
    assert.equal(session.remoteSettings.enableConnectProtocol, true)
    const stream = open(session)
    const headers = await answerTo(stream)
    assert.equal(headers[':status'], 200)
    assert.equal(headers['sec-websocket-accept'], undefined)
    stream.write(frame('hello'))
    assert.equal((await read(stream, 7)).subarray(2).toString(), 'hello')
    assert.match(origin.keys[0] ?? '', /^[A-Za-z0-9+/]{22}==$/)
    stream.resume().end(CLOSE_FRAME)
    await once(stream, 'close')
    await gateway.finished(1)
    const record = gateway.records[0]!
    assert.deepEqual([record.status, record.method, record.target, record.reason], [101, 'GET', '/chat', 'Upstream'])
    assert.equal(record.requestBytes, 11 + CLOSE_FRAME.length)
    assert.equal(session.closed, false, 'the connection stays')
  })

  it('carries megabytes both ways, at the pace of the slower side', async (t) => {
    const server = await useTcpServer(t, (socket) => {
      socket.once('data', (head: Buffer) => {
        const key = /sec-websocket-key: (\S+)/.exec(head.toString())?.[1] ?? ''
        const lines = `connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: ${acceptOf(key)}`
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n\r\n`)
        socket.pipe(socket)
      })
    })
    const gateway = await useGateway(t, httpConfig([routeTo(server)]))
    const stream = open(await useClient(t, gateway.port()))
    await answerTo(stream)
    const bytes = Buffer.alloc(5_000_000, 'portico')
    stream.write(bytes)
    assert.ok((await read(stream, bytes.length)).equals(bytes))
    stream.close()
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.requestBytes, bytes.length)
  })

  it('reaches a backend of HTTP/2 inside a stream', async (t) => {
    const backend = await useHttp2Backend(t, echo)
    const gateway = await useGateway(t, httpConfig([routeTo(backend, HTTP2)]))
    const stream = open(await useClient(t, gateway.port()))
    assert.equal((await answerTo(stream))[':status'], 200)
    stream.write('anything')
    assert.equal((await read(stream, 8)).toString(), 'anything')
    const [seen] = backend.seen
    assert.deepEqual([seen?.[':method'], seen?.[':protocol'], seen?.[':path']], ['CONNECT', 'websocket', '/chat'])
    stream.resume().end()
    await once(stream, 'close')
    await gateway.finished(1)
    const { reason, error } = gateway.records[0]!
    assert.deepEqual([reason, error], ['ClientGone', 'client ended the WebSocket without a close frame'])
  })

  it('reaches a backend of HTTP/2 from an HTTP/1.1 client, with the proof that the client awaits', async (t) => {
    const backend = await useHttp2Backend(t, (stream) => {
      stream.respond({ ':status': 200 })
      // An unmasked frame of text.
      stream.write(Buffer.from([0x81, 2, 0x68, 0x69]))
      stream.resume().on('end', () => stream.end())
    })
    const gateway = await useGateway(t, httpConfig([routeTo(backend, HTTP2)]))
    const client = new WebSocket(`ws://127.0.0.1:${gateway.port()}/`)
    const [data] = (await once(client, 'message')) as [Buffer]
    assert.equal(data.toString(), 'hi')
    assert.equal(backend.seen[0]?.['sec-websocket-key'], undefined)
    client.terminate()
    await gateway.finished(1)
  })

  it('falls back to HTTP/1.1 where the backend does not take it', async (t) => {
    const origin = await useEchoOrigin(t)
    const plain = await useHttp2Backend(t, (stream) => stream.respond({ ':status': 500 }, { endStream: true }), false)
    const gateway = await useGateway(t, httpConfig([routeTo(plain, HTTP2)]))
    const stream = open(await useClient(t, gateway.port()))
    // The backend knows no HTTP/1.1 either.
    assert.ok([502, 503].includes((await answerTo(stream))[':status'] ?? 0))
    assert.equal(plain.seen.length, 0)
    assert.equal(origin.keys.length, 0)
  })

  it('opens one connection of HTTP/2 before it falls back, and holds nothing against the backend', async (t) => {
    const origin = await useEchoOrigin(t)
    const plain = await useHttp2Backend(t, (stream) => stream.respond({ ':status': 204 }, { endStream: true }), false)
    const opened = { http1: 0, http2: 0 }
    const both = await useTcpServer(t, (socket) => {
      socket.once('data', (first: Buffer) => {
        const isHttp2 = first.toString('latin1', 0, 3) === 'PRI'
        opened[isHttp2 ? 'http2' : 'http1']++
        const server = dial(Number((isHttp2 ? plain : origin).host.split(':')[1]), '127.0.0.1')
        t.after(() => server.destroy())
        server.on('error', () => {}).write(first)
        socket.pipe(server).pipe(socket)
      })
    })
    const policies = { backend: { ...HTTP2.backend, health: { eviction: {} } } }
    const gateway = await useGateway(t, httpConfig([routeTo(both, policies)]))
    const session = await useClient(t, gateway.port())
    const stream = open(session)
    assert.equal((await answerTo(stream))[':status'], 200)
    stream.write(frame('hello'))
    assert.equal((await read(stream, 7)).subarray(2).toString(), 'hello')
    assert.deepEqual(opened, { http1: 1, http2: 1 })
    assert.deepEqual(gateway.evictions, [])
    stream.close()
    await gateway.finished(1)
  })

  it('gets the refusal of the backend, with its body', async (t) => {
    const backend = await useHttp2Backend(t, (stream) => {
      stream.respond({ ':status': 401 })
      stream.end('who are you')
    })
    const gateway = await useGateway(t, httpConfig([routeTo(backend, HTTP2)]))
    const stream = open(await useClient(t, gateway.port()))
    assert.equal((await answerTo(stream))[':status'], 401)
    assert.equal((await read(stream, 11)).toString(), 'who are you')
  })

  it('is refused where the route does not allow it, and so is another protocol', async (t) => {
    const origin = await useOrigin(t)
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { upgrades: { protocols: [] } })]))
    const session = await useClient(t, gateway.port())
    assert.equal((await answerTo(open(session)))[':status'], 403)
    assert.equal((await answerTo(open(session, { ':protocol': 'connect-udp' })))[':status'], 403)
    assert.equal(origin.seen.length, 0)
  })

  it('is given up when the backend lies about the handshake', async (t) => {
    const server = await useTcpServer(t, (socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    })
    const gateway = await useGateway(t, httpConfig([routeTo(server)]))
    assert.equal((await answerTo(open(await useClient(t, gateway.port()))))[':status'], 502)
  })

  it('ends on both sides when one of them breaks', async (t) => {
    let broken: ServerHttp2Stream | undefined
    const backend = await useHttp2Backend(t, (stream) => {
      stream.respond({ ':status': 200 })
      broken = stream
    })
    const gateway = await useGateway(t, httpConfig([routeTo(backend, HTTP2)]))
    const session = await useClient(t, gateway.port())
    const first = open(session)
    await answerTo(first)
    for (const socket of backend.sockets) socket.resetAndDestroy()
    await until(() => first.closed)
    assert.equal(first.rstCode, constants.NGHTTP2_CONNECT_ERROR)
    const second = open(session)
    await answerTo(second)
    second.close(constants.NGHTTP2_CANCEL)
    await until(() => broken?.closed === true)
    await gateway.finished(2)
  })
})

describe('CONNECT over HTTP/2', () => {
  const policies = { upgrades: { protocols: ['connect'] } }
  const ask = (session: ClientHttp2Session): ClientHttp2Stream =>
    session.request({ ':method': 'CONNECT', ':authority': 'any.example:443' }, { endStream: false })

  it('tunnels to the backend, and closes each direction on its own', async (t) => {
    const echoServer = await useTcpServer(t, (socket) => socket.on('data', (bytes) => socket.write(bytes)))
    const gateway = await useGateway(t, httpConfig([routeTo(echoServer, policies)]))
    const stream = ask(await useClient(t, gateway.port()))
    assert.equal((await answerTo(stream))[':status'], 200)
    stream.write('bytes')
    assert.equal((await read(stream, 5)).toString(), 'bytes')
    const closed = once(stream, 'close')
    stream.end('last')
    assert.equal((await read(stream, 4)).toString(), 'last')
    stream.resume()
    await closed
    assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR)
    await gateway.finished(1)
    const record = gateway.records[0]!
    assert.deepEqual([record.status, record.method, record.requestBytes, record.responseBytes], [200, 'CONNECT', 9, 9])
  })

  it('is refused as over HTTP/1.1 where no route takes it', async (t) => {
    const origin = await useOrigin(t)
    const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
    assert.equal((await answerTo(ask(await useClient(t, gateway.port()))))[':status'], 405)
  })
})
