import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import type { Http2ServerOptions } from './server-connection.ts'
import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  FrameClient,
  GOAWAY,
  HEADERS,
  literalFields,
  PING,
  PRIORITY,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../testing/frame-client.ts'
import { reply, startServer, type TestServer, until } from '../../testing/http2-server.ts'

const GET: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/'],
]
const POST: [string, string][] = [[':method', 'POST'], ...GET.slice(1)]
const CALM = 11

async function open(
  t: TestContext,
  handler: (exchange: Exchange) => void,
  options: Partial<Http2ServerOptions> = {},
  settings?: Buffer,
): Promise<{ server: TestServer; client: FrameClient }> {
  const server = await startServer(handler, options)
  const client = await FrameClient.open(server.port, settings)
  t.after(async () => {
    client.destroy()
    await server.close()
  })
  return { server, client }
}

/**
 * Sends the frames repeatedly until the connection ends or the rounds are over; returns the code of GOAWAY, or null.
 */
async function flood(client: FrameClient, rounds: number, next: (round: number) => Buffer): Promise<number | null> {
  const given = (): number | null => client.frames.find(({ type }) => type === GOAWAY)?.payload.readUInt32BE(4) ?? null
  for (let round = 0; round < rounds && !client.closed && given() === null; round++) {
    client.socket.write(next(round))
    if (round % 100 === 0) await turn()
  }
  // A GOAWAY of the server comes before the reply to a ping, or not at all.
  if (!client.closed && given() === null) {
    const pongs = (): number => client.frames.filter(({ type, flags }) => type === PING && flags === ACK).length
    const before = pongs()
    client.send(PING, 0, 0, Buffer.from('the last'))
    await client.wait((one) => one.type === GOAWAY || pongs() > before)
  }
  return given()
}

const empty = Buffer.alloc(0)

for (const [what, next] of [
  ['pings', () => frame(PING, 0, 0, Buffer.alloc(8))],
  ['answers to pings that nobody sent', () => frame(PING, ACK, 0, Buffer.alloc(8))],
  ['settings', () => frame(SETTINGS, 0, 0, empty)],
  ['acknowledged settings', () => frame(SETTINGS, ACK, 0, empty)],
  ['windows of new streams', (round) => frame(SETTINGS, 0, 0, setting(4, round % 2 === 0 ? 0 : 65_535))],
  ['priorities', (round) => frame(PRIORITY, 0, 2 * round + 3, Buffer.from([0, 0, 0, 1, 0]))],
  ['wider windows', () => frame(WINDOW_UPDATE, 0, 0, Buffer.from([0, 0, 0, 1]))],
  ['wider windows of a stream', () => frame(WINDOW_UPDATE, 0, 1, Buffer.from([0, 0, 0, 1]))],
  ['empty data', () => frame(DATA, 0, 1, empty)],
  ['data that is all padding', () => frame(DATA, 8, 1, Buffer.from([3, 0, 0, 0]))],
  ['frames of no known kind', () => frame(222, 0, 1, empty)],
  ['resets of a stream that is over', () => frame(RST_STREAM, 0, 3, Buffer.alloc(4))],
] satisfies [string, (round: number) => Buffer][]) {
  test(`a flood of ${what} ends the connection`, async (t) => {
    const { server, client } = await open(t, (exchange) => {
      if (exchange.method === 'GET') reply(exchange, 200)
    })
    client.headers(1, POST, END_HEADERS)
    client.headers(3, GET)
    assert.equal(await client.outcome(3), 'status 200')
    assert.equal(await flood(client, 20_000, next), CALM)
    assert.deepEqual(server.refused, ['0 too_many_frames'])
  })
}

function setting(name: number, value: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt16BE(name, 0)
  bytes.writeUInt32BE(value, 2)
  return bytes
}

test('a client that takes a large body may widen its windows and ping as it goes', async (t) => {
  const size = 8 * 1024 * 1024
  const chunk = Buffer.alloc(16_384)
  const { server, client } = await open(t, (exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), size)
    let sent = 0
    const run = (): void => {
      while (sent < size) {
        sink.write(chunk)
        sent += chunk.length
        if (!sink.flush()) return
      }
      sink.end(null)
    }
    sink.source = { length: size, pipe: () => {}, resume: run, cancel: () => {} }
    run()
  })
  client.headers(1, GET)
  let seen = 0
  let received = 0
  await client.wait(() => {
    for (; seen < client.frames.length; seen++) {
      const { type, payload } = client.frames[seen]!
      if (type !== DATA || payload.length === 0) continue
      received += payload.length
      const increment = Buffer.alloc(4)
      increment.writeUInt32BE(payload.length)
      client.send(WINDOW_UPDATE, 0, 0, increment)
      client.send(WINDOW_UPDATE, 0, 1, increment)
      client.send(PING, 0, 0, Buffer.alloc(8))
    }
    return received === size
  })
  assert.deepEqual([received, server.refused, client.closed], [size, [], false])
})

test('a window that is widened byte by byte is not worth its frames', async (t) => {
  const { server, client } = await open(t, (exchange) => reply(exchange, 200, 'x'.repeat(50_000)), {}, setting(4, 0))
  client.headers(1, GET)
  await client.wait(({ type }) => type === HEADERS)
  assert.equal(await flood(client, 40_000, () => frame(WINDOW_UPDATE, 0, 1, Buffer.from([0, 0, 0, 1]))), CALM)
  assert.deepEqual(server.refused, ['0 too_many_frames'])
})

test('a head in endless small pieces ends the connection', async (t) => {
  const { server, client } = await open(t, () => {})
  client.send(HEADERS, END_STREAM, 1, literalFields(GET))
  assert.equal(await flood(client, 1_000, () => frame(CONTINUATION, 0, 1, empty)), CALM)
  assert.deepEqual(server.exchanges, [])
})

test('a head in several pieces is one head', async (t) => {
  const { server, client } = await open(t, (exchange) => reply(exchange, 200))
  const block = literalFields([...GET, ['x', 'y'.repeat(5_000)]])
  client.send(HEADERS, END_STREAM, 1, block.subarray(0, 7))
  for (let at = 7; at < block.length; at += 500) {
    client.send(CONTINUATION, at + 500 >= block.length ? END_HEADERS : 0, 1, block.subarray(at, at + 500))
  }
  assert.equal(await client.outcome(1), 'status 200')
  assert.equal(server.exchanges[0]?.headers.get('x')?.length, 5_000)
})

test('a head that is begun and not finished is not waited for', async (t) => {
  const { server, client } = await open(t, () => {}, { stallTimeoutMs: 30 })
  client.send(HEADERS, END_STREAM, 1, literalFields(GET))
  await client.wait(() => false)
  await until(() => server.closed === 1)
})

test('a small block that stands for a large head is refused without being built', async (t) => {
  const { server, client } = await open(t, (exchange) => reply(exchange, 200))
  // A table entry that takes nearly the whole table, and 12,000 references to it.
  const entry = Buffer.concat([Buffer.from([0x40]), literalFields([['x', 'y'.repeat(3_900)]]).subarray(1)])
  const bomb = Buffer.concat([literalFields(GET), entry, Buffer.alloc(12_000, 0xbe)])
  client.send(HEADERS, END_HEADERS | END_STREAM, 1, bomb)
  assert.equal(await client.outcome(1), 'reset 11')
  client.send(HEADERS, END_HEADERS | END_STREAM, 3, Buffer.concat([literalFields(GET), Buffer.alloc(50, 0xbe)]))
  assert.equal(await client.outcome(3), 'status other')
  assert.deepEqual(server.refused, ['431 head_too_large'])
  assert.equal(server.exchanges.length, 0)
})

test('streams that this side has to reset count like those that the client resets', async (t) => {
  const { server, client } = await open(t, () => {})
  const next = (round: number): Buffer =>
    Buffer.concat([
      frame(HEADERS, END_HEADERS | END_STREAM, 2 * round + 1, literalFields(GET)),
      // A window increment of zero is a stream error.
      frame(WINDOW_UPDATE, 0, 2 * round + 1, Buffer.alloc(4)),
    ])
  assert.equal(await flood(client, 1_000, next), CALM)
  assert.deepEqual(server.refused, ['0 too_many_resets'])
  assert.ok(server.exchanges.length < 300, `${server.exchanges.length} requests were begun`)
})

test('malformed heads count too', async (t) => {
  const { server, client } = await open(t, () => {})
  const next = (round: number): Buffer =>
    frame(HEADERS, END_HEADERS | END_STREAM, 2 * round + 1, literalFields([...GET, ['connection', 'close']]))
  assert.equal(await flood(client, 1_000, next), CALM)
  assert.deepEqual(server.refused, ['0 too_many_resets'])
})

test('a client that opens more streams than it may at first is told so, and served', async (t) => {
  const { server, client } = await open(t, () => {}, { maxStreams: 10 })
  for (let id = 1; id < 1_000; id += 2) client.headers(id, GET)
  assert.equal(await client.outcome(999), 'reset 7')
  for (const exchange of server.exchanges) reply(exchange, 200)
  client.headers(1_001, GET)
  await until(() => server.exchanges.length === 11)
  assert.deepEqual(server.refused, [])
})

test('answers that a client does not read hold up its requests', async (t) => {
  const { server, client } = await open(t, (exchange) => reply(exchange, 204, '', [['x', 'y'.repeat(10_000)]]))
  client.socket.pause()
  const all = 4_000
  for (let i = 0; i < all; i++) client.headers(2 * i + 1, GET)
  // Waits until nothing happens any more: the kernel's buffers are full.
  for (let calm = 0, seen = 0; calm < 200; calm++) {
    await turn()
    if (server.exchanges.length !== seen) calm = 0
    seen = server.exchanges.length
  }
  assert.ok(server.exchanges.length > 0)
  assert.ok(server.exchanges.length < all, 'all requests were taken')
  client.socket.resume()
  await until(() => server.exchanges.length === all)
})

test('a body without a window stays where it comes from', async (t) => {
  let given = 0
  const { client } = await open(
    t,
    (exchange) => {
      const sink = exchange.respond(200, new HeaderBlock(), -1)
      const run = (): void => {
        while (sink.flush()) {
          sink.write(Buffer.alloc(10_000))
          given += 10_000
        }
      }
      sink.source = { length: -1, pipe: () => {}, resume: run, cancel: () => {} }
      run()
    },
    {},
    setting(4, 0),
  )
  for (let id = 1; id < 100; id += 2) client.headers(id, GET)
  await client.wait(({ type, stream }) => type === HEADERS && stream === 99)
  assert.ok(given <= 50 * 10_000, `${given} bytes were taken`)
  client.send(WINDOW_UPDATE, 0, 1, Buffer.from([0, 0, 0x10, 0]))
  const data = await client.wait(({ type }) => type === DATA)
  assert.deepEqual([data?.stream, data?.payload.length], [1, 4_096])
})

test('a small piece of a body does not keep the large read that it came with', async (t) => {
  const pieces: Buffer[] = []
  const { client } = await open(t, (exchange) =>
    exchange.body.pipe({
      source: null,
      write: (chunk) => void pieces.push(chunk),
      flush: () => true,
      end: () => reply(exchange, 200),
      abort: () => {},
    }),
  )
  const [small, large] = [frame(DATA, 0, 1, Buffer.from('x')), frame(DATA, 0, 3, Buffer.alloc(16_384))]
  client.headers(1, POST, END_HEADERS)
  client.headers(3, POST, END_HEADERS)
  client.socket.write(Buffer.concat([large, small, large, small]))
  client.send(DATA, END_STREAM, 1)
  assert.equal(await client.outcome(1), 'status 200')
  const ones = pieces.filter(({ length }) => length === 1)
  assert.equal(ones.length, 2)
  // A piece that came in a read of its own is an exception.
  for (const { buffer, byteOffset } of ones) assert.ok(buffer.byteLength === 1 || byteOffset < 100)
})
