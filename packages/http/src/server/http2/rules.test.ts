import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
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
import { reply, startServer, until } from '../../testing/http2-server.ts'

const fields = (method: string): Buffer =>
  literalFields([
    [':method', method],
    [':scheme', 'http'],
    [':authority', 'a.test'],
    [':path', '/'],
  ])
/** GET is answered at once, POST never. */
const ask = (id: number, method = 'POST', flags = END_HEADERS): Buffer => frame(HEADERS, flags, id, fields(method))
const answered = (id: number): Buffer => ask(id, 'GET', END_HEADERS | END_STREAM)
const data = (id: number, size: number, flags = 0): Buffer => frame(DATA, flags, id, Buffer.alloc(size))
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const setting = (name: number, value: number): Buffer => Buffer.concat([Buffer.from([0, name]), number(value)])
const none = Buffer.alloc(0)
const announced = (length: string): Buffer =>
  literalFields([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'a.test'],
    [':path', '/'],
    ['content-length', length],
  ])
const LARGEST = 2 ** 31 - 1

/** Protocol violations, and their effect on stream 1 or on the connection (RFC 9113 sections 4 to 6). */
const breaches: [string, Buffer[], string][] = [
  ['a stream with an even number', [ask(2)], 'goaway 1'],
  ['a number below one that was used', [ask(5), ask(3)], 'goaway 5'],
  ['fields on stream 0', [ask(0)], 'goaway 1'],
  ['data on stream 0', [data(0, 1)], 'goaway 1'],
  ['data before fields', [data(1, 1)], 'goaway 1'],
  ['a reset before fields', [frame(RST_STREAM, 0, 1, number(8))], 'goaway 1'],
  ['a reset of stream 0', [frame(RST_STREAM, 0, 0, number(8))], 'goaway 1'],
  ['a reset of a wrong size', [ask(1), frame(RST_STREAM, 0, 1, none)], 'goaway 6'],
  ['a window before fields', [frame(WINDOW_UPDATE, 0, 1, number(1))], 'goaway 1'],
  ['data after its end', [ask(1, 'POST', END_HEADERS | END_STREAM), data(1, 1)], 'reset 5'],
  ['fields after the end', [ask(1, 'POST', END_HEADERS | END_STREAM), ask(1)], 'reset 5'],
  ['data for an answered stream', [answered(3), data(3, 1)], 'goaway 5'],
  ['fields for an answered stream', [answered(3), answered(3)], 'goaway 5'],
  ['data after a reset', [ask(1), frame(RST_STREAM, 0, 1, number(8)), data(1, 1)], 'goaway 5'],
  ['trailers without an end', [ask(1), ask(1)], 'reset 1'],
  ['a window of nothing', [ask(1), frame(WINDOW_UPDATE, 0, 1, number(0))], 'reset 1'],
  ['a window of nothing, of the connection', [frame(WINDOW_UPDATE, 0, 0, number(0))], 'goaway 1'],
  ['too wide a window', [ask(1), frame(WINDOW_UPDATE, 0, 1, number(LARGEST))], 'reset 3'],
  ['too wide a window of the connection', [frame(WINDOW_UPDATE, 0, 0, number(LARGEST))], 'goaway 3'],
  ['a window of a wrong size', [frame(WINDOW_UPDATE, 0, 0, none)], 'goaway 6'],
  ['settings on a stream', [frame(SETTINGS, 0, 1, none)], 'goaway 1'],
  ['half a setting', [frame(SETTINGS, 0, 0, Buffer.alloc(5))], 'goaway 6'],
  ['an acknowledgement with settings', [frame(SETTINGS, ACK, 0, setting(4, 1))], 'goaway 6'],
  ['a push that is neither on nor off', [frame(SETTINGS, 0, 0, setting(2, 2))], 'goaway 1'],
  ['too wide a first window', [frame(SETTINGS, 0, 0, setting(4, LARGEST + 1))], 'goaway 3'],
  [
    'a first window that widens another too far',
    [ask(1), frame(WINDOW_UPDATE, 0, 1, number(LARGEST - 65_535)), frame(SETTINGS, 0, 0, setting(4, 65_536))],
    'goaway 3',
  ],
  ['frames that are too small', [frame(SETTINGS, 0, 0, setting(5, 16_383))], 'goaway 1'],
  ['frames that are too large', [frame(SETTINGS, 0, 0, setting(5, 2 ** 24))], 'goaway 1'],
  ['too many settings at once', [frame(SETTINGS, 0, 0, Buffer.alloc(33 * 6))], 'goaway 11'],
  ['a ping on a stream', [frame(PING, 0, 1, Buffer.alloc(8))], 'goaway 1'],
  ['a ping of a wrong size', [frame(PING, 0, 0, Buffer.alloc(7))], 'goaway 6'],
  ['a goodbye on a stream', [frame(GOAWAY, 0, 1, Buffer.alloc(8))], 'goaway 1'],
  ['a goodbye of a wrong size', [frame(GOAWAY, 0, 0, Buffer.alloc(7))], 'goaway 6'],
  ['a push', [frame(5, END_HEADERS, 1, Buffer.alloc(8))], 'goaway 1'],
  ['a priority of stream 0', [frame(PRIORITY, 0, 0, Buffer.alloc(5))], 'goaway 1'],
  ['a priority of a wrong size', [frame(PRIORITY, 0, 1, Buffer.alloc(4))], 'goaway 6'],
  ['a stream that depends on itself', [frame(PRIORITY, 0, 1, Buffer.from([0, 0, 0, 1, 0]))], 'goaway 1'],
  [
    'fields that depend on themselves',
    [frame(HEADERS, END_HEADERS | 32, 1, Buffer.concat([Buffer.from([0, 0, 0, 1, 0]), fields('POST')]))],
    'goaway 1',
  ],
  ['fields too short for their priority', [frame(HEADERS, END_HEADERS | 32, 1, Buffer.alloc(4))], 'goaway 1'],
  ['a continuation of nothing', [frame(CONTINUATION, END_HEADERS, 1, none)], 'goaway 1'],
  ['a frame inside a head', [ask(1, 'POST', 0), data(1, 1)], 'goaway 1'],
  ['a continuation of another head', [ask(1, 'POST', 0), frame(CONTINUATION, END_HEADERS, 3, none)], 'goaway 1'],
  ['more padding than data', [ask(1), frame(DATA, 8, 1, Buffer.from([9, 1, 2]))], 'goaway 1'],
  ['padding without its length', [ask(1), frame(DATA, 8, 1, none)], 'goaway 1'],
  ['more padding than fields', [frame(HEADERS, END_HEADERS | 8, 1, Buffer.from([200, 0]))], 'goaway 1'],
  ['a frame longer than allowed', [ask(1), data(1, 16_385)], 'goaway 6'],
  ['fields that cannot be read', [frame(HEADERS, END_HEADERS, 1, Buffer.from([0x80]))], 'goaway 9'],
  ['more data than announced', [frame(HEADERS, END_HEADERS, 1, announced('3')), data(1, 3), data(1, 1)], 'reset 1'],
  ['less data than announced', [frame(HEADERS, END_HEADERS, 1, announced('3')), data(1, 2, END_STREAM)], 'reset 1'],
  ['more data than the stream may carry', [ask(1), ...Array.from({ length: 5 }, () => data(1, 16_384))], 'reset 3'],
]

test('a protocol violation ends the stream or the connection', async (t) => {
  const server = await startServer(
    (exchange) => {
      if (exchange.method === 'GET') reply(exchange, 200)
    },
    { windowSize: 65_535 },
  )
  t.after(() => server.close())
  for (const [what, sent, expected] of breaches) {
    const client = await FrameClient.open(server.port)
    client.socket.write(Buffer.concat(sent))
    assert.equal(await client.outcome(1), expected, what)
    client.destroy()
  }
})

test('all of the announced data may come before the frame that ends it', async (t) => {
  const bodies: number[] = []
  const server = await startServer((exchange) => {
    const size = bodies.push(0) - 1
    exchange.body.pipe({
      write: (chunk) => void (bodies[size]! += chunk.length),
      flush: () => true,
      end: () => reply(exchange, 200),
      abort: () => {},
      source: null,
    })
  })
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  client.socket.write(
    Buffer.concat([frame(HEADERS, END_HEADERS, 1, announced('3')), data(1, 3), data(1, 0, END_STREAM)]),
  )
  await until(() => client.frames.some(({ type, stream }) => type === HEADERS && stream === 1))
  assert.deepEqual([bodies, server.reset], [[3], []])
  client.destroy()
})

test('unusual but valid frames are accepted', async (t) => {
  const server = await startServer((exchange) => {
    if (exchange.method === 'GET') reply(exchange, 200)
  })
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  t.after(() => client.destroy())
  client.socket.write(
    Buffer.concat([
      frame(PRIORITY, 0, 7, Buffer.from([0, 0, 0, 1, 0])),
      frame(PING, ACK, 0, Buffer.alloc(8)),
      frame(99, 255, 0, Buffer.alloc(10)),
      frame(SETTINGS, 0, 0, setting(200, 1)),
      frame(
        HEADERS,
        END_HEADERS | END_STREAM | 8 | 32,
        1,
        Buffer.concat([Buffer.from([2, 0, 0, 0, 3, 9]), fields('GET'), none, Buffer.alloc(2)]),
      ),
      frame(WINDOW_UPDATE, 0, 1, number(1)),
      frame(RST_STREAM, 0, 1, number(8)),
      answered(9),
    ]),
  )
  assert.equal(await client.outcome(9), 'status 200')
  assert.equal(await client.outcome(1), 'status 200')
  assert.deepEqual(server.refused, [])
})

test('frames in flight to a stream that this side has ended are dropped', async (t) => {
  const server = await startServer((exchange) => reply(exchange, 413))
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  t.after(() => client.destroy())
  client.socket.write(ask(1))
  await client.wait(({ type, stream }) => type === RST_STREAM && stream === 1)
  client.socket.write(
    Buffer.concat([
      data(1, 16_384),
      frame(WINDOW_UPDATE, 0, 1, number(1)),
      ask(1, 'POST', END_HEADERS | END_STREAM),
      ask(3),
    ]),
  )
  assert.equal(await client.outcome(3), 'status other')
  assert.deepEqual(server.refused, [])
})

test('a client that does not speak HTTP/2 gets a GOAWAY', async (t) => {
  const server = await startServer(() => {})
  t.after(() => server.close())
  for (const bytes of [Buffer.from('GET / HTTP/1.1\r\nhost: a\r\n\r\n'), Buffer.from('PRI * HTTP/2.0\r\n\r\nXX')]) {
    const client = new FrameClient(connect({ port: server.port, host: '127.0.0.1' }))
    client.socket.write(bytes)
    assert.equal(await client.outcome(1), 'goaway 1')
    client.destroy()
  }
  const early = new FrameClient(connect({ port: server.port, host: '127.0.0.1' }))
  early.socket.write(
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(PING, 0, 0, Buffer.alloc(8))]),
  )
  assert.equal(await early.outcome(1), 'goaway 1')
  early.destroy()
  await until(() => server.closed === 3)
  assert.deepEqual(server.refused, ['0 protocol_error', '0 protocol_error', '0 protocol_error'])
})

test('a client that says goodbye is served to the end', async (t) => {
  const server = await startServer(() => {})
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  client.socket.write(Buffer.concat([ask(1, 'GET', END_HEADERS | END_STREAM), frame(GOAWAY, 0, 0, Buffer.alloc(8))]))
  await until(() => server.exchanges.length === 1)
  reply(server.exchanges[0]!, 200)
  assert.equal(await client.outcome(1), 'status 200')
  await client.wait(() => false)
  await until(() => server.closed === 1)
})
