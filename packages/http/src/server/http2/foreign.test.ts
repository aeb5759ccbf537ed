import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { frame, FrameClient, HEADERS, literalFields, PING, SETTINGS } from '../../testing/frame-client.ts'
import { collector, reply, startServer, type TestServer, until } from '../../testing/http2-server.ts'

/** Compares with the runtime's own client, an independent implementation: nghttp2. */
async function start(
  t: TestContext,
  handler: (exchange: Exchange) => void,
): Promise<{ server: TestServer; client: ClientHttp2Session }> {
  const server = await startServer(handler)
  const client = connect(`http://127.0.0.1:${server.port}`)
  client.on('error', () => {})
  t.after(async () => {
    client.destroy()
    await server.close()
  })
  return { server, client }
}

const name = fc.oneof(
  fc.stringMatching(/^y[a-z0-9-]{0,12}$/),
  fc.constantFrom('user-agent', 'accept', 'accept-language', 'x-a', 'x-b', 'authorization', 'via'),
)
const value = fc.oneof(
  fc.constantFrom('', 'a', '*/*', 'gzip', 'Mozilla/5.0 (X11; Linux x86_64)'),
  fc.stringMatching(/^([!-~\x80-\xff]([ -~\x80-\xff]{0,60}[!-~\x80-\xff])?)?$/),
)
const fields = fc.uniqueArray(fc.tuple(name, value), { maxLength: 12, selector: ([key]) => key })

test('whatever the runtime sends is read as the same fields and body, request after request', async (t) => {
  const seen: { fields: [string, string][]; path: string; body: string; trailer: string | null }[] = []
  const { client } = await start(t, (exchange) => {
    const lines: [string, string][] = []
    exchange.headers.forEach((key, content) => lines.push([key, content]))
    exchange.body.pipe(
      collector((body, trailers) => {
        seen.push({
          fields: lines,
          path: exchange.target,
          body: body.toString('hex'),
          trailer: trailers?.get('sum') ?? null,
        })
        reply(exchange, 200)
      }),
    )
  })
  await fc.assert(
    fc.asyncProperty(
      fields,
      fc.stringMatching(/^\/[a-z0-9%?=&]{0,30}$/).filter((path) => !path.includes('%')),
      fc.uint8Array({ maxLength: 40_000 }),
      fc.boolean(),
      async (sent, path, body, withTrailers) => {
        const head = [':method', 'POST', ':scheme', 'http', ':authority', 'a.test', ':path', path, ...sent.flat()]
        const stream = client.request(head, { waitForTrailers: withTrailers })
        stream.on('wantTrailers', () => stream.sendTrailers({ sum: '42' }))
        stream.resume()
        stream.end(Buffer.from(body))
        await once(stream, 'close')
        const got = seen.pop()
        assert.deepEqual(got, {
          fields: sent,
          path,
          body: Buffer.from(body).toString('hex'),
          trailer: withTrailers ? '42' : null,
        })
      },
    ),
    { seed: 7, numRuns: 150 },
  )
})

test('whatever is answered the runtime reads as the same fields, body and trailers', async (t) => {
  let answer: { sent: [string, string][]; body: Buffer; status: number } = {
    sent: [],
    body: Buffer.alloc(0),
    status: 200,
  }
  const { client } = await start(t, (exchange) => {
    const sink = exchange.respond(answer.status, HeaderBlock.of(answer.sent), -1)
    if (answer.body.length > 0) sink.write(answer.body)
    sink.end(HeaderBlock.of([['x-sum', '1']]))
  })
  await fc.assert(
    fc.asyncProperty(
      fields,
      fc.uint8Array({ maxLength: 100_000 }),
      fc.constantFrom(200, 201, 206, 299, 302, 400, 404, 451, 500, 503),
      async (sent, body, status) => {
        answer = { sent, body: Buffer.from(body), status }
        const stream = client.request({ ':path': '/' })
        const chunks: Buffer[] = []
        const trailers: string[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('trailers', (_fields, _flags, raw: string[]) => trailers.push(...raw))
        const [, , raw] = (await once(stream, 'response')) as [unknown, unknown, string[]]
        await once(stream, 'close')
        assert.deepEqual(raw, [':status', String(status), ...sent.flat()])
        assert.ok(Buffer.concat(chunks).equals(answer.body))
        assert.deepEqual(trailers, ['x-sum', '1'])
      },
    ),
    { seed: 7, numRuns: 100 },
  )
})

test('a head longer than a frame arrives whole, also with a table that was forbidden', async (t) => {
  const long = 'z'.repeat(40_000)
  const server = await startServer((exchange) => reply(exchange, 200, 'ok', [['x-long', long]]))
  const client = connect(`http://127.0.0.1:${server.port}`, {
    settings: { headerTableSize: 0, maxHeaderListSize: 200_000 },
    maxHeaderListPairs: 1_000,
  })
  t.after(async () => {
    client.destroy()
    await server.close()
  })
  for (let i = 0; i < 3; i++) {
    const stream = client.request({ ':path': '/' })
    stream.resume()
    const [head] = (await once(stream, 'response')) as [Record<string, string>]
    assert.equal(head['x-long'], long)
    await once(stream, 'close')
  }
})

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const GET: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/'],
]

test('a request is the same in single bytes', async (t) => {
  const server = await startServer((exchange) =>
    exchange.body.pipe(collector((body) => reply(exchange, 200, body.toString()))),
  )
  t.after(() => server.close())
  const socket = connectSocket({ port: server.port, host: '127.0.0.1', noDelay: true })
  t.after(() => socket.destroy())
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  const bytes = Buffer.concat([
    Buffer.from(PREFACE),
    frame(SETTINGS, 0, 0, Buffer.alloc(0)),
    frame(HEADERS, 4, 1, literalFields([[':method', 'POST'], ...GET.slice(1)])),
    frame(0, 8, 1, Buffer.from('\x03hello...', 'latin1')),
    frame(0, 1, 1, Buffer.from(' world')),
  ])
  for (const byte of bytes) {
    socket.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => received.endsWith('\0\0\x0b\0\x01\0\0\0\x01hello world'))
  assert.deepEqual([server.refused, server.exchanges.length], [[], 1])
})

test('no garbage breaks a connection in another way than it should, and others are served', async (t) => {
  const server = await startServer((exchange) =>
    exchange.body.pipe(
      collector(
        () => reply(exchange, 200, 'x'.repeat(100)),
        () => {},
      ),
    ),
  )
  t.after(() => server.close())
  const piece = fc.oneof(
    // A frame of any kind for one of a few streams.
    fc
      .tuple(
        fc.integer({ min: 0, max: 11 }),
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 0, max: 7 }),
        fc.uint8Array({ maxLength: 40 }),
      )
      .map(([type, flags, stream, payload]) => frame(type, flags, stream, Buffer.from(payload))),
    fc
      .tuple(fc.constantFrom(4, 5), fc.constantFrom(1, 3, 5, 7))
      .map(([flags, stream]) => frame(HEADERS, flags, stream, literalFields(GET))),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 20 }), async (pieces) => {
      const client = await FrameClient.open(server.port)
      for (const bytes of pieces) client.socket.write(bytes)
      client.send(PING, 0, 0, Buffer.from('are you?'))
      client.socket.end()
      await client.wait(() => false)
    }),
    { seed: 7, numRuns: 400 },
  )
  const other = await FrameClient.open(server.port)
  other.headers(1, GET)
  assert.equal(await other.outcome(1), 'status 200')
  other.destroy()
  await until(() => server.closed === server.connections.length)
  assert.ok(server.connections.every(({ active }) => active === 0))
})
