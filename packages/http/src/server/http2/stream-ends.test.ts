import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Exchange, RawConnection } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import type { Http2ServerOptions } from './server-connection.ts'
import {
  DATA,
  END_HEADERS,
  END_STREAM,
  FrameClient,
  HEADERS,
  literalFields,
  PING,
  RST_STREAM,
  WINDOW_UPDATE,
} from '../../testing/frame-client.ts'
import { collector, reply, startServer, type TestServer, until } from '../../testing/http2-server.ts'

const PADDED = 8
type Fields = [string, string][]

const head = (method: string, path = '/', more: Fields = []): Fields => [
  [':method', method],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', path],
  ...more,
]

async function useServer(
  t: TestContext,
  handler: (exchange: Exchange) => void,
  options: Partial<Http2ServerOptions> = {},
): Promise<{ server: TestServer; client: FrameClient }> {
  const server = await startServer(handler, options)
  const client = await FrameClient.open(server.port)
  t.after(async () => {
    client.destroy()
    await server.close()
  })
  return { server, client }
}

/** Reads the body and answers with its length. */
function measure(exchange: Exchange): void {
  exchange.body.pipe(collector((body) => reply(exchange, 200, `${body.length} ${body.toString('latin1')}`)))
}

let pings = 0

/** Waits until the server has read and answered everything that the client has sent. */
async function roundTrip(client: FrameClient): Promise<void> {
  const payload = Buffer.alloc(8)
  payload.writeUInt32BE(++pings)
  client.send(PING, 0, 0, payload)
  await client.wait((frame) => frame.type === PING && frame.payload.equals(payload))
}

const ofStream = (client: FrameClient, stream: number, type: number) =>
  client.frames.filter((frame) => frame.stream === stream && frame.type === type)

const bodyOf = (client: FrameClient, stream: number): string =>
  Buffer.concat(ofStream(client, stream, DATA).map((frame) => frame.payload)).toString('latin1')

const ended = (client: FrameClient, stream: number) =>
  client.wait((frame) => frame.stream === stream && (frame.flags & END_STREAM) !== 0 && frame.type <= HEADERS)

test('a request that has ended, by data or by trailers, is answered without a reset', async (t) => {
  const { server, client } = await useServer(t, measure)
  client.headers(1, head('POST'), END_HEADERS)
  client.send(DATA, 0, 1, Buffer.from('two '))
  client.send(DATA, END_STREAM, 1, Buffer.from('parts'))
  client.headers(3, head('POST', '/', [['content-length', '5']]), END_HEADERS)
  client.send(DATA, 0, 3, Buffer.from('whole'))
  client.headers(3, [['x-sum', '1']])
  client.headers(5, head('POST'), END_HEADERS)
  client.send(DATA, END_STREAM, 5)
  for (const stream of [1, 3, 5]) await ended(client, stream)
  await roundTrip(client)
  assert.deepEqual(
    [1, 3, 5].map((stream) => bodyOf(client, stream)),
    ['9 two parts', '5 whole', '0 '],
  )
  assert.ok(!client.frames.some((frame) => frame.type === RST_STREAM))
  assert.equal(server.connections[0]?.active, 0)
})

test('data or trailers after the end of a request break the rules', async (t) => {
  const { client } = await useServer(t, () => {})
  client.headers(1, head('POST'), END_HEADERS)
  client.send(DATA, END_STREAM, 1, Buffer.from('all'))
  client.send(DATA, 0, 1, Buffer.from('more'))
  assert.equal(await client.outcome(1), 'reset 5')
})

test('a body of another length than announced is reset, however it ends', async (t) => {
  const { client } = await useServer(t, measure)
  const announced = head('POST', '/', [['content-length', '5']])
  client.headers(1, announced, END_HEADERS)
  client.send(DATA, END_STREAM, 1, Buffer.from('four'))
  assert.equal(await client.outcome(1), 'reset 1')
  client.headers(3, announced, END_HEADERS)
  client.send(DATA, 0, 3, Buffer.from('sixsix'))
  assert.equal(await client.outcome(3), 'reset 1')
  client.headers(5, announced, END_HEADERS)
  client.send(DATA, 0, 5, Buffer.from('four'))
  client.headers(5, [['x-sum', '1']])
  assert.equal(await client.outcome(5), 'reset 1')
  client.headers(7, announced, END_HEADERS)
  client.send(DATA, 0, 7, Buffer.from('five!'))
  client.send(DATA, END_STREAM, 7)
  await ended(client, 7)
  assert.equal(bodyOf(client, 7), '5 five!')
})

/** DATA with so many bytes of padding. */
function padded(text: string, padding: number): Buffer {
  return Buffer.concat([Buffer.from([padding]), Buffer.from(text), Buffer.alloc(padding, '.')])
}

test('padding is no part of a body, and is taken from the window and given back', async (t) => {
  const { client } = await useServer(t, measure)
  client.headers(1, head('POST', '/', [['content-length', '12']]), END_HEADERS)
  client.send(DATA, PADDED, 1, padded('none', 0))
  client.send(DATA, PADDED, 1, padded('some', 9))
  client.send(DATA, PADDED, 1, padded('', 255))
  client.send(DATA, PADDED | END_STREAM, 1, padded('last', 1))
  await ended(client, 1)
  assert.equal(bodyOf(client, 1), '12 nonesomelast')
})

test('padding that is longer than its frame ends the connection', async (t) => {
  for (const payload of [Buffer.from([4, 1, 2, 3]), Buffer.from([1]), Buffer.alloc(0)]) {
    const { client } = await useServer(t, measure)
    client.headers(1, head('POST'), END_HEADERS)
    client.send(DATA, PADDED, 1, payload)
    assert.equal(await client.outcome(1), 'goaway 1', payload.toString('hex'))
  }
})

test('a client that sends nothing but padding gets all of its window back, and never an update of nothing', async (t) => {
  const { client } = await useServer(t, measure, { windowSize: 65_535, largestWindowSize: 65_535 })
  client.headers(1, head('POST'), END_HEADERS)
  // One byte of data in each frame: frames without any would count as useless.
  const frames = 1_000
  for (let sent = 0; sent < frames; sent++) client.send(DATA, PADDED, 1, padded('x', 255))
  await roundTrip(client)
  const updates = ofStream(client, 1, WINDOW_UPDATE).map((frame) => frame.payload.readUInt32BE(0))
  const granted = updates.reduce((sum, update) => sum + update, 0)
  const all = client.frames.filter((frame) => frame.type === WINDOW_UPDATE)
  assert.ok(all.every((frame) => frame.payload.readUInt32BE(0) > 0))
  assert.ok(granted > frames * 257 - 65_535 / 2 && granted <= frames * 257, `${granted} bytes for ${frames} frames`)
  client.send(DATA, END_STREAM, 1)
  await ended(client, 1)
  assert.match(bodyOf(client, 1), /^1000 x+$/)
})

test('a client that sends beyond the window of its stream is reset', async (t) => {
  const { client } = await useServer(t, () => {}, { windowSize: 65_535, largestWindowSize: 65_535 })
  client.headers(1, head('POST'), END_HEADERS)
  for (let sent = 0; sent < 4; sent++) client.send(DATA, 0, 1, Buffer.alloc(16_384))
  assert.equal(await client.outcome(1), 'reset 3')
  // One byte less fits.
  client.headers(3, head('POST'), END_HEADERS)
  for (let sent = 0; sent < 3; sent++) client.send(DATA, 0, 3, Buffer.alloc(16_384))
  client.send(DATA, 0, 3, Buffer.alloc(16_383))
  await roundTrip(client)
  assert.deepEqual(ofStream(client, 3, RST_STREAM), [])
})

const responses: [method: string, status: number, length: number, announced: string | null, seen: string][] = [
  ['GET', 200, 5, null, 'content-length: 5, hello'],
  ['GET', 200, 5, '5', 'content-length: 5, hello'],
  ['GET', 200, 5, '9', 'content-length: 5, hello'],
  ['GET', 200, -1, '9', 'no length, hello'],
  ['GET', 200, 0, null, 'content-length: 0, '],
  ['HEAD', 200, 5, '5', 'content-length: 5, '],
  ['HEAD', 200, -1, '5', 'content-length: 5, '],
  ['HEAD', 200, -1, null, 'no length, '],
  ['HEAD', 200, 0, null, 'no length, '],
  ['GET', 204, 5, '5', 'no length, '],
  ['GET', 205, 5, '5', 'no length, '],
  ['GET', 206, 5, '5', 'content-length: 5, hello'],
  ['GET', 304, 5, '5', 'content-length: 5, '],
  ['GET', 304, -1, null, 'no length, '],
  ['GET', 305, 5, null, 'content-length: 5, hello'],
]
for (const [method, status, length, announced, seen] of responses) {
  test(`${method}, ${status}, length ${length}, announced as ${announced}: ${seen}`, async (t) => {
    const { client } = await useServer(t, (exchange) => {
      const headers = HeaderBlock.of(announced === null ? [] : [['content-length', announced]])
      const sink = exchange.respond(status, headers, length)
      if (length !== 0) sink.write(Buffer.from('hello'))
      sink.end(null)
    })
    client.headers(1, head(method))
    await ended(client, 1)
    const block = ofStream(client, 1, HEADERS)[0]?.payload.toString('latin1') ?? ''
    // The static table has `content-length` at 28, which a literal writes as 15 and 13.
    const lengths = [...block.matchAll(/\x0f\x0d[\x01-\x7e](\d+)/g)].map(([, digits]) => `content-length: ${digits}`)
    assert.equal(`${lengths[0] ?? 'no length'}, ${bodyOf(client, 1)}`, seen)
    assert.ok(lengths.length <= 1)
  })
}

test('a tunnel that this side has ended is over when the client ends it too', async (t) => {
  const tunnels: RawConnection[] = []
  const { server, client } = await useServer(t, (exchange) => {
    const raw = exchange.takeOver(200, new HeaderBlock())
    assert.ok(raw !== null)
    tunnels.push(raw)
    raw.socket.on('error', () => {}).resume()
    raw.socket.end('last words')
  })
  client.send(
    HEADERS,
    END_HEADERS,
    1,
    literalFields([
      [':method', 'CONNECT'],
      [':authority', 'a.test:443'],
    ]),
  )
  await ended(client, 1)
  await roundTrip(client)
  assert.equal(server.connections[0]?.active, 1)
  assert.equal(bodyOf(client, 1), 'last words')
  client.send(DATA, END_STREAM, 1, Buffer.from('mine'))
  await until(() => server.connections[0]?.active === 0)
  await roundTrip(client)
  assert.deepEqual(ofStream(client, 1, RST_STREAM), [])
  assert.equal(tunnels.length, 1)
})

test('a client that waits for its response stays, however long nothing is sent', async (t) => {
  const limits = { idleTimeoutMs: 40, stallTimeoutMs: 30 }
  const { server, client } = await useServer(t, () => {}, limits)
  client.headers(1, head('GET'))
  await until(() => server.exchanges.length === 1)
  // Two other connections, one after the other, are closed because they are idle.
  for (let closed = 0; closed < 2; closed++) {
    const idle = await FrameClient.open(server.port)
    await idle.wait(() => false)
  }
  const [exchange] = server.exchanges
  assert.ok(exchange !== undefined)
  reply(exchange, 200, 'late')
  await ended(client, 1)
  assert.equal(bodyOf(client, 1), 'late')
})

test('nothing is sent on a stream that the client has reset, whatever is done with its exchange', async (t) => {
  const { server, client } = await useServer(t, () => {})
  client.headers(1, head('GET'))
  await until(() => server.exchanges.length === 1)
  client.send(RST_STREAM, 0, 1, Buffer.from([0, 0, 0, 8]))
  await until(() => server.connections[0]?.active === 0)
  const [exchange] = server.exchanges
  assert.ok(exchange !== undefined)
  exchange.inform(103, HeaderBlock.of([['link', '</a>']]))
  const sink = exchange.respond(200, new HeaderBlock(), -1)
  sink.write(Buffer.from('late'))
  assert.equal(sink.flush(), true)
  sink.write(Buffer.from('later'))
  sink.end(null)
  exchange.reset(new Error('again'))
  await roundTrip(client)
  assert.deepEqual(
    client.frames.filter((frame) => frame.stream === 1),
    [],
  )
})

test('interim answers after the head of the response are dropped', async (t) => {
  const { client } = await useServer(t, (exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), -1)
    exchange.inform(103, HeaderBlock.of([['link', '</a>']]))
    sink.write(Buffer.from('body'))
    sink.end(null)
  })
  client.headers(1, head('GET'))
  await ended(client, 1)
  assert.equal(ofStream(client, 1, HEADERS).length, 1)
})

const NARROW = { windowSize: 65_535, largestWindowSize: 65_535 }

test('a body that waited is given no window back once it has ended', async (t) => {
  const { server, client } = await useServer(t, () => {}, NARROW)
  client.headers(1, head('POST'), END_HEADERS)
  for (let sent = 0; sent < 3; sent++) client.send(DATA, 0, 1, Buffer.alloc(16_384))
  client.send(DATA, END_STREAM, 1, Buffer.alloc(16_383))
  await roundTrip(client)
  const [exchange] = server.exchanges
  assert.ok(exchange !== undefined)
  assert.equal(exchange.bytesIn, 0)
  exchange.body.pipe(collector((body) => reply(exchange, 200, String(body.length))))
  await ended(client, 1)
  assert.equal(bodyOf(client, 1), '65535')
  assert.deepEqual(ofStream(client, 1, WINDOW_UPDATE), [])
})

test('a body that waited and is not wanted gives its window back, so that the client can go on', async (t) => {
  const { server, client } = await useServer(t, () => {}, NARROW)
  client.headers(1, head('POST'), END_HEADERS)
  for (let sent = 0; sent < 3; sent++) client.send(DATA, 0, 1, Buffer.alloc(16_384))
  client.send(DATA, 0, 1, Buffer.alloc(16_383))
  await roundTrip(client)
  assert.deepEqual(ofStream(client, 1, WINDOW_UPDATE), [])
  const [exchange] = server.exchanges
  assert.ok(exchange !== undefined)
  exchange.body.cancel(new Error('enough'))
  await roundTrip(client)
  assert.deepEqual(
    ofStream(client, 1, WINDOW_UPDATE).map((frame) => frame.payload.readUInt32BE(0)),
    [65_535],
  )
  client.send(DATA, END_STREAM, 1, Buffer.alloc(10))
  await roundTrip(client)
  reply(exchange, 200, 'done')
  await ended(client, 1)
  assert.deepEqual(ofStream(client, 1, RST_STREAM), [])
})
