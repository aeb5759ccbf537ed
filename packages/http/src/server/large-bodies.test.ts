import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../gateway/src/testing/scene.ts'
import { useTlsFiles } from '../../../gateway/src/testing/tls-files.ts'
import type { Sink } from '../body/body.ts'
import { DATA, END_HEADERS, FrameClient, PING, WINDOW_UPDATE } from '../testing/frame-client.ts'
import { reply, startServer } from '../testing/http2-server.ts'

const POST: [string, string][] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a'],
]
const FRAME = 16_384

/** Bytes that the client may send on a stream, or on the connection, beyond the initial window. */
function granted({ frames }: FrameClient, stream: number): number {
  return frames
    .filter((frame) => frame.type === WINDOW_UPDATE && frame.stream === stream)
    .reduce((sum, frame) => sum + frame.payload.readUInt32BE(0), 0)
}

async function pong(client: FrameClient): Promise<void> {
  const before = client.frames.filter((frame) => frame.type === PING).length
  client.send(PING, 0, 0, Buffer.alloc(8))
  await client.wait((frame) => frame.type === PING && client.frames.filter((f) => f.type === PING).length > before)
}

test('a body that nobody takes fills one window and no more, and goes on when it is taken', async (t) => {
  let taken = 0
  let isOpen = false
  const sink: Sink = {
    source: null,
    write: (chunk) => (taken += chunk.length),
    flush: () => isOpen,
    end: () => reply(server.exchanges[0]!, 200),
    abort: () => {},
  }
  const server = await startServer((exchange) => exchange.body.pipe(sink))
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  t.after(() => client.destroy())
  // The larger window applies once the client has received it.
  await pong(client)
  client.headers(1, POST, END_HEADERS)
  const window = 262_144
  for (let sent = 0; sent < window; sent += FRAME) client.send(DATA, 0, 1, Buffer.alloc(FRAME))
  await pong(client)
  assert.ok(granted(client, 1) < window, `${granted(client, 1)} more bytes allowed`)
  assert.ok(taken < window)
  isOpen = true
  sink.source?.resume()
  await client.wait((frame) => frame.type === WINDOW_UPDATE && frame.stream === 1 && granted(client, 1) >= window / 2)
  client.send(DATA, 1, 1, Buffer.alloc(1))
  assert.equal(await client.outcome(1), 'status 200')
  assert.equal(taken, window + 1)
})

test('windows are those of the config, and larger than the smallest without one', async (t) => {
  const origin = await useOrigin(t)
  for (const [http, stream, connection] of [
    [{}, 262_144, 4_194_304],
    [{ http2WindowSize: '1Mi', http2ConnectionWindowSize: '2Mi' }, 1_048_576, 2_097_152],
    [{ http2WindowSize: 65_535, http2ConnectionWindowSize: 65_535 }, 65_535, 65_535],
  ] as const) {
    const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend: { http } }))
    const client = await FrameClient.open(gateway.port())
    await pong(client)
    assert.equal(65_535 + granted(client, 0), connection)
    client.destroy()
    const session = connect(`http://127.0.0.1:${gateway.port()}`)
    const [settings] = (await once(session, 'remoteSettings')) as [Record<string, number>]
    session.destroy()
    assert.equal(settings['initialWindowSize'], stream)
  }
})

const TEXT = randomBytes(2 * 1024 * 1024).toString('hex')
const BODY = Buffer.from(TEXT)
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** A backend of either version that echoes the request body, and sends its hash. */
async function useEcho(t: TestContext, version: 'HTTP1' | 'HTTP2'): Promise<object> {
  const policies = { backend: { http: { version } } }
  if (version === 'HTTP1') {
    const origin = await useOrigin(t, (seen, response) => {
      response.end(seen.method === 'GET' ? BODY : seen.body === TEXT ? 'whole' : 'broken')
    })
    return routeTo(origin, policies)
  }
  const sessions: ServerHttp2Session[] = []
  const server = createServer()
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (stream: ServerHttp2Stream, fields) => {
    stream.on('error', () => {})
    const hash = createHash('sha256')
    stream.on('data', (chunk: Buffer) => hash.update(chunk))
    stream.on('end', () => {
      stream.respond({ ':status': 200 })
      if (fields[':method'] === 'GET') stream.end(BODY)
      else stream.end(hash.digest('hex') === hashOf(BODY) ? 'whole' : 'broken')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return routeTo({ host: `127.0.0.1:${(server.address() as AddressInfo).port}` }, policies)
}

for (const version of ['HTTP1', 'HTTP2'] as const) {
  for (const secure of [false, true]) {
    test(`4 MiB pass in both directions, HTTP/2 ${secure ? 'over TLS ' : ''}in and ${version} out`, async (t) => {
      const { dir, authority } = useTlsFiles(t, ['a.test'])
      const tls = { protocol: 'HTTPS', tls: { cert: 'a.test.crt', key: 'a.test.key' } }
      const listener = { ...(secure && tls), routes: [await useEcho(t, version)] }
      const gateway = await useGateway(t, { binds: [{ port: 0, listeners: [listener] }] }, { dir })
      const url = `${secure ? 'https' : 'http'}://127.0.0.1:${gateway.port()}`
      const session = connect(url, secure ? { ca: authority.cert, servername: 'a.test' } : {})
      t.after(() => session.destroy())
      const up = session.request({ ':method': 'POST', ':authority': 'a.test' })
      up.end(BODY)
      assert.equal((await read(up)).toString(), 'whole')
      const down = session.request({ ':authority': 'a.test' })
      assert.equal(hashOf(await read(down)), hashOf(BODY))
    })
  }
}

test('4 MiB pass in both directions, HTTP/1.1 over TLS in', async (t) => {
  const { dir, authority } = useTlsFiles(t, ['a.test'])
  const tls = { cert: 'a.test.crt', key: 'a.test.key' }
  const listener = { protocol: 'HTTPS', tls, routes: [await useEcho(t, 'HTTP1')] }
  const gateway = await useGateway(t, { binds: [{ port: 0, listeners: [listener] }] }, { dir })
  const ask = async (method: string, headers: object): Promise<Buffer> => {
    const agent = { ca: authority.cert, servername: 'a.test', port: gateway.port(), host: '127.0.0.1', agent: false }
    const sent = request({ ...agent, method, headers: { host: 'a.test', ...headers } })
    sent.end(method === 'POST' ? BODY : undefined)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return read(response)
  }
  assert.equal((await ask('POST', { 'content-length': BODY.length })).toString(), 'whole')
  assert.equal((await ask('POST', { 'transfer-encoding': 'chunked' })).toString(), 'whole')
  assert.equal(hashOf(await ask('GET', {})), hashOf(BODY))
})

async function read(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
