import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { FakeTime } from '../../../../gateway/src/testing/fake-time.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import type { Http2ServerOptions } from './server-connection.ts'
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame as frameBytes,
  FrameClient,
  GOAWAY,
  HEADERS,
  literalFields,
  PING,
  RST_STREAM,
  WINDOW_UPDATE,
} from '../../testing/frame-client.ts'
import { reply, startServer, until } from '../../testing/http2-server.ts'

const GET: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/'],
]
/** Milliseconds. */
const IDLE = 60_000
const STALL = 30_000

async function useServer(t: TestContext, settings?: Buffer, options: Partial<Http2ServerOptions> = {}) {
  const time = new FakeTime()
  const limits = { deadlines: time.deadlines, idleTimeoutMs: IDLE, stallTimeoutMs: STALL, ...options }
  const server = await startServer(() => {}, limits)
  const client = await FrameClient.open(server.port, settings)
  t.after(async () => {
    client.destroy()
    await server.close()
    time.deadlines.close()
  })
  await roundTrip(client)
  /** Lets time pass in steps, as the deadlines see it. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 5_000) await time.advance(Math.min(left, 5_000))
  }
  const open = async (stream: number): Promise<Exchange> => {
    const before = server.exchanges.length
    client.headers(stream, GET)
    await until(() => server.exchanges.length > before)
    const exchange = server.exchanges.at(-1)
    assert.ok(exchange !== undefined)
    return exchange
  }
  const isLeaving = (): boolean => client.frames.some((frame) => frame.type === GOAWAY)
  return { server, client, pass, open, isLeaving }
}

let pings = 0

/** Waits until the server has read and answered everything that the client has sent. */
async function roundTrip(client: FrameClient): Promise<void> {
  const payload = Buffer.alloc(8)
  payload.writeUInt32BE(++pings)
  client.send(PING, 0, 0, payload)
  await client.wait((frame) => frame.type === PING && frame.payload.equals(payload))
}

test('a connection is idle from the end of its last stream on', async (t) => {
  const { client, pass, open, isLeaving } = await useServer(t)
  const [one, other] = [await open(1), await open(3)]
  await pass(2 * IDLE)
  reply(other, 200)
  await pass(2 * IDLE)
  reply(one, 200)
  await client.wait((frame) => frame.stream === 1 && (frame.flags & END_STREAM) !== 0)
  await pass(IDLE - 5_000)
  await roundTrip(client)
  assert.equal(isLeaving(), false)
  await pass(STALL + 10_000)
  await client.wait((frame) => frame.type === GOAWAY)
})

test('a connection without any stream is idle from its start on', async (t) => {
  const { client, pass, isLeaving } = await useServer(t)
  await pass(IDLE - 5_000)
  await roundTrip(client)
  assert.equal(isLeaving(), false)
  await pass(STALL + 10_000)
  await client.wait((frame) => frame.type === GOAWAY)
})

/** Windows that let a server send all it has. */
const WIDE = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])

test('a client that takes nothing from its socket is cut off after the idle timeout', async (t) => {
  const { server, client, pass, open } = await useServer(t, WIDE)
  client.send(WINDOW_UPDATE, 0, 0, Buffer.from([0x7f, 0, 0, 0]))
  const exchange = await open(1)
  await roundTrip(client)
  client.socket.pause()
  const sink = exchange.respond(200, new HeaderBlock(), -1)
  for (let sent = 0; sent < 512; sent++) sink.write(Buffer.alloc(65_536))
  sink.end(null)
  // The kernel takes its part within a few turns.
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  await pass(IDLE - 5_000)
  assert.equal(server.closed, 0)
  await pass(2 * IDLE)
  await until(() => server.closed === 1)
})

test('a client that takes something now and then stays', async (t) => {
  const { server, client, pass, open } = await useServer(t, WIDE)
  client.send(WINDOW_UPDATE, 0, 0, Buffer.from([0x7f, 0, 0, 0]))
  const exchange = await open(1)
  await roundTrip(client)
  client.socket.pause()
  const sink = exchange.respond(200, new HeaderBlock(), -1)
  for (let sent = 0; sent < 512; sent++) sink.write(Buffer.alloc(65_536))
  sink.end(null)
  for (let round = 0; round < 6; round++) {
    const before = client.socket.bytesRead
    client.socket.resume()
    await until(() => client.socket.bytesRead > before + 2_000_000)
    client.socket.pause()
    await pass(STALL)
  }
  assert.equal(server.closed, 0)
})

test('a stream whose client sends nothing more of its body is reset after the stall timeout', async (t) => {
  const { server, client, pass } = await useServer(t)
  client.headers(1, [[':method', 'POST'], ...GET.slice(1)], 4)
  await until(() => server.exchanges.length === 1)
  server.exchanges[0]?.body.pipe({
    source: null,
    write: () => {},
    flush: () => true,
    end: () => assert.fail('the body has no end'),
    abort: () => {},
  })
  await pass(STALL - 5_000)
  client.send(0, 0, 1, Buffer.from('more'))
  await roundTrip(client)
  await pass(STALL - 5_000)
  await roundTrip(client)
  assert.ok(!client.frames.some((frame) => frame.type === RST_STREAM))
  await pass(2 * STALL)
  assert.equal(await client.outcome(1), 'reset 2')
})

test('a stream that gets as much as it sends is not stalled', async (t) => {
  const { server, client, pass } = await useServer(t)
  client.headers(1, [[':method', 'POST'], ...GET.slice(1)], 4)
  await until(() => server.exchanges.length === 1)
  const exchange = server.exchanges[0]!
  const echo = exchange.respond(200, new HeaderBlock(), -1)
  exchange.body.pipe({
    source: null,
    write: (chunk) => echo.write(Buffer.from(chunk)),
    flush: () => echo.flush(),
    end: () => assert.fail('the body has no end'),
    abort: () => {},
  })
  for (let round = 1; round <= 4; round++) {
    client.send(0, 0, 1, Buffer.from(`more${round}`))
    await client.wait((frame) => frame.type === DATA && frame.payload.includes(`more${round}`))
    await pass(STALL - 10_000)
  }
  await roundTrip(client)
  assert.ok(!client.frames.some((frame) => frame.type === RST_STREAM))
})

const UPLOAD = [[':method', 'POST'], ...GET.slice(1)] as [string, string][]
const endless = (hasRoom: boolean) => ({
  source: null,
  write: () => {},
  flush: () => hasRoom,
  end: () => assert.fail('the body has no end'),
  abort: () => {},
})
const unfinished: [name: string, fields: [string, string][], act: (exchange: Exchange) => void, isReset: boolean][] = [
  ['is read', UPLOAD, (exchange) => exchange.body.pipe(endless(true)), true],
  ['is dropped', UPLOAD, (exchange) => exchange.body.cancel(new Error('enough')), true],
  ['is not read yet', UPLOAD, () => {}, false],
  ['has a consumer without room', UPLOAD, (exchange) => exchange.body.pipe(endless(false)), false],
  [
    'is a stream of messages',
    [...UPLOAD, ['content-type', 'application/grpc']],
    (exchange) => exchange.body.pipe(endless(true)),
    false,
  ],
]
for (const [name, fields, act, isReset] of unfinished) {
  test(`a client that sends no more of a body that ${name} is ${isReset ? '' : 'not '}reset`, async (t) => {
    const { server, client, pass } = await useServer(t)
    client.headers(1, fields, 4)
    client.send(0, 0, 1, Buffer.from('some'))
    await until(() => server.exchanges.length === 1)
    await roundTrip(client)
    const [exchange] = server.exchanges
    assert.ok(exchange !== undefined)
    act(exchange)
    await pass(4 * IDLE)
    await roundTrip(client)
    assert.equal(
      client.frames.some((frame) => frame.type === RST_STREAM),
      isReset,
    )
    assert.equal(server.connections[0]?.active, isReset ? 0 : 1)
  })
}

test('a tunnel may be silent for long', async (t) => {
  const { server, client, pass } = await useServer(t)
  const tunnel: [string, string][] = [
    [':method', 'CONNECT'],
    [':authority', 'a.test:443'],
  ]
  client.headers(1, tunnel, 4)
  await until(() => server.exchanges.length === 1)
  const raw = server.exchanges[0]?.takeOver(200, new HeaderBlock())
  raw?.socket.on('error', () => {}).resume()
  await pass(4 * IDLE)
  await roundTrip(client)
  assert.equal(server.connections[0]?.active, 1)
  assert.ok(!client.frames.some((frame) => frame.type === RST_STREAM))
  raw?.socket.destroy()
})

test('pings are sent at their interval, and a client that answers none of them is given up', async (t) => {
  const limits = { keepaliveIntervalMs: 10_000, keepaliveTimeoutMs: 20_000, idleTimeoutMs: 3_600_000 }
  const { server, client, pass } = await useServer(t, undefined, limits)
  const asked = (): number => client.frames.filter((frame) => frame.type === PING && (frame.flags & 1) === 0).length
  await pass(5_000)
  await roundTrip(client)
  assert.equal(asked(), 0)
  for (let count = 1; count < 4; count++) {
    await pass(10_000)
    await until(() => asked() === count)
    // The client's own answer is read before more time passes.
    await roundTrip(client)
  }
  assert.equal(server.closed, 0)
  client.socket.pause()
  await pass(10_000)
  await pass(15_000)
  assert.equal(server.closed, 0)
  await pass(10_000)
  await until(() => server.closed === 1)
})

test('a connection that reached its age is drained', async (t) => {
  const { client, pass, open, isLeaving } = await useServer(t, undefined, { maxDurationMs: 300_000 })
  const exchange = await open(1)
  await pass(295_000)
  await roundTrip(client)
  assert.equal(isLeaving(), false)
  await pass(10_000)
  await client.wait((frame) => frame.type === GOAWAY)
  reply(exchange, 200)
  assert.equal(await client.outcome(1), 'status 200')
  await once(client.socket, 'close')
})

test('a drain goes on as soon as the client has answered its ping, and not before', async (t) => {
  const { server, client, open, pass } = await useServer(t, undefined, { keepaliveIntervalMs: 10_000 })
  await open(1)
  const goaways = (): number[] =>
    client.frames.filter((frame) => frame.type === GOAWAY).map((frame) => frame.payload.readUInt32BE(0))
  await pass(10_000)
  // The server has read the reply to its keepalive ping after the second round trip.
  await roundTrip(client)
  await roundTrip(client)
  assert.deepEqual(goaways(), [])
  server.connections[0]?.drain()
  server.connections[0]?.drain()
  await until(() => goaways().length === 2)
  assert.deepEqual(goaways(), [2 ** 31 - 1, 1])
  await roundTrip(client)
  assert.equal(goaways().length, 2)
})

test('a drain goes on after a second when the client does not answer its ping', async (t) => {
  const { server, client, pass } = await useServer(t)
  client.headers(1, GET)
  await until(() => server.exchanges.length === 1)
  client.socket.pause()
  server.connections[0]?.drain()
  client.headers(3, GET)
  await until(() => server.exchanges.length === 2)
  await pass(1_100)
  client.headers(5, GET)
  const fence = Buffer.from('a fence.')
  client.send(PING, 0, 0, fence)
  client.socket.resume()
  await client.wait((frame) => frame.type === PING && frame.payload.equals(fence))
  assert.equal(server.exchanges.length, 2)
  const last = client.frames.filter((frame) => frame.type === GOAWAY).at(-1)
  assert.equal(last?.payload.readUInt32BE(0), 3)
})

test('each head has its own time limit, and a finished head has none', async (t) => {
  const { server, client, pass, isLeaving } = await useServer(t)
  const [most, rest] = [literalFields(GET.slice(0, 3)), literalFields(GET.slice(3))]
  const arrived = async (bytes: number): Promise<void> => until(() => server.bytesRead() >= bytes)
  for (const stream of [1, 3]) {
    client.send(HEADERS, END_STREAM, stream, most)
    await arrived(client.socket.bytesWritten)
    await pass(STALL - 5_000)
    client.send(CONTINUATION, END_HEADERS, stream, rest)
    await roundTrip(client)
  }
  await pass(2 * STALL)
  await roundTrip(client)
  assert.deepEqual([server.exchanges.length, isLeaving(), server.refused], [2, false, []])
  client.send(HEADERS, END_STREAM, 5, most)
  await arrived(client.socket.bytesWritten)
  await pass(STALL + 10_000)
  const last = await client.wait((frame) => frame.type === GOAWAY)
  assert.equal(last?.payload.readUInt32BE(4), 1)
  assert.deepEqual(server.refused, ['0 request_head_timeout'])
})

test('a frame that stops in its middle is cut off, also after one that arrived in pieces', async (t) => {
  // An idle connection would be asked to leave meanwhile.
  const { server, client, pass, isLeaving } = await useServer(t, undefined, { idleTimeoutMs: 3_600_000 })
  const payload = Buffer.from('in parts')
  const ping = frameBytes(PING, 0, 0, payload)
  client.socket.write(ping.subarray(0, 5))
  await until(() => server.bytesRead() >= client.socket.bytesWritten)
  client.socket.write(ping.subarray(5))
  await client.wait((frame) => frame.type === PING && frame.payload.equals(payload))
  await pass(STALL + 10_000)
  await roundTrip(client)
  assert.equal(isLeaving(), false)
  client.socket.write(ping.subarray(0, 12))
  await until(() => server.bytesRead() >= client.socket.bytesWritten)
  await pass(STALL + 10_000)
  await client.wait((frame) => frame.type === GOAWAY)
  assert.deepEqual(server.refused, ['0 request_head_timeout'])
})

test('a head whose first frame arrives in pieces is timed from its first byte', async (t) => {
  const { server, client, pass, isLeaving } = await useServer(t)
  const first = frameBytes(HEADERS, END_STREAM, 1, literalFields(GET.slice(0, 3)))
  const send = async (bytes: Buffer): Promise<void> => {
    client.socket.write(bytes)
    await until(() => server.bytesRead() >= client.socket.bytesWritten)
  }
  await send(first.subarray(0, 12))
  await pass(STALL - 10_000)
  await send(first.subarray(12))
  await pass(5_000)
  assert.equal(isLeaving(), false)
  await pass(10_000)
  await client.wait((frame) => frame.type === GOAWAY)
  assert.deepEqual(server.refused, ['0 request_head_timeout'])
})
