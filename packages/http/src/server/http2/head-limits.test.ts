import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { FakeTime } from '../../../../gateway/src/testing/fake-time.ts'
import { END_HEADERS, END_STREAM, frame, HEADERS, literalFields, SETTINGS } from '../../testing/frame-client.ts'
import { reply, startServer, until } from '../../testing/http2-server.ts'

/** The time limit from the first byte of a head to its end. */

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const BEGIN = Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0))])
const FIELDS = literalFields([
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a'],
])

async function open(t: TestContext) {
  const time = new FakeTime()
  const server = await startServer((exchange) => reply(exchange, 200, 'ok'), {
    deadlines: time.deadlines,
    idleTimeoutMs: 600_000,
  })
  t.after(() => server.close())
  const socket = connect(server.port, '127.0.0.1').on('error', () => {})
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  await until(() => server.connections.length === 1)
  return { time, server, socket }
}

/** Sends bytes and waits until the server has read them. */
async function send(server: { bytesRead(): number }, socket: Socket, bytes: Buffer): Promise<void> {
  const before = server.bytesRead()
  socket.write(bytes)
  await until(() => server.bytesRead() >= before + bytes.length)
}

const ask = frame(HEADERS, END_HEADERS | END_STREAM, 1, FIELDS)
const CUTS: Record<string, Buffer> = {
  'nothing at all': Buffer.alloc(0),
  'half a preface': PREFACE.subarray(0, 10),
  'a preface without SETTINGS': PREFACE,
  'half a frame header': Buffer.concat([BEGIN, ask.subarray(0, 5)]),
  'a HEADERS frame cut inside': Buffer.concat([BEGIN, ask.subarray(0, ask.length - 1)]),
  'a head without its CONTINUATION': Buffer.concat([BEGIN, frame(HEADERS, END_STREAM, 1, FIELDS)]),
}

for (const [name, bytes] of Object.entries(CUTS)) {
  test(`a client that sends ${name} is closed after 60 s`, async (t) => {
    const { time, server, socket } = await open(t)
    await send(server, socket, bytes)
    await time.advance(59_000)
    assert.deepEqual(server.refused, [])
    await time.advance(2_000)
    assert.deepEqual(server.refused, ['0 request_head_timeout'])
    socket.resume()
    await until(() => socket.readableEnded || socket.destroyed)
  })
}

test('a head that trickles byte by byte is closed 60 s after its first one', async (t) => {
  const { time, server, socket } = await open(t)
  await send(server, socket, BEGIN)
  for (let at = 0; at < 7; at++) {
    await send(server, socket, ask.subarray(at, at + 1))
    if (at < 6) assert.deepEqual(server.refused, [], `byte ${at}`)
    await time.advance(10_000)
  }
  assert.deepEqual(server.refused, ['0 request_head_timeout'])
})

test('a client whose writes end inside of frames is served as long as it completes them', async (t) => {
  const { time, server, socket } = await open(t)
  const asks = Array.from({ length: 10 }, (_, i) => frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, FIELDS))
  const bytes = Buffer.concat(asks)
  await send(server, socket, Buffer.concat([BEGIN, bytes.subarray(0, 5)]))
  for (let at = 5; at < bytes.length; at += ask.length) {
    await time.advance(50_000)
    await send(server, socket, bytes.subarray(at, at + ask.length))
  }
  assert.equal(server.exchanges.length, asks.length)
  assert.deepEqual(server.refused, [])
})
