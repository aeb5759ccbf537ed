import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Source } from '../../body/body.ts'
import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  GOAWAY,
  HEADERS,
  literalFields,
  PING,
  PRIORITY,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../testing/frame-client.ts'
import { type BackendConnection, useFrameBackend } from '../../../../gateway/src/testing/http/frame-backend.ts'
import { sendCall, useHttp2Connection } from '../../../../gateway/src/testing/http/http2-calls.ts'
import { until, useTcpServer } from '../../../../gateway/src/testing/scene.ts'

/** Backends that violate RFC 9113, frame by frame: the outcome of the call, and what the backend receives. */

const PUSH_PROMISE = 5
const PADDED = 8

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function setting(name: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([0, name]), uint32(value)])
}

const STATUS: [string, string] = [':status', '200']
const HEAD = literalFields([STATUS])
const goaway = (last: number, code: number): Buffer => Buffer.concat([uint32(last), uint32(code)])

/** Sends frames in response to the request on stream 1. */
type Breach = (connection: BackendConnection) => void

const OF_CONNECTION: Record<string, [code: string, breach: Breach]> = {
  'a push promise': ['PROTOCOL_ERROR', (to) => to.send(PUSH_PROMISE, END_HEADERS, 1, uint32(2))],
  'DATA on stream 0': ['PROTOCOL_ERROR', (to) => to.send(DATA, 0, 0, Buffer.from('x'))],
  'DATA on an idle stream': ['PROTOCOL_ERROR', (to) => to.send(DATA, 0, 7, Buffer.from('x'))],
  'HEADERS on stream 0': ['PROTOCOL_ERROR', (to) => to.send(HEADERS, END_HEADERS, 0, HEAD)],
  'HEADERS on a stream of its own': ['PROTOCOL_ERROR', (to) => to.send(HEADERS, END_HEADERS, 2, HEAD)],
  'HEADERS on an idle stream': ['PROTOCOL_ERROR', (to) => to.send(HEADERS, END_HEADERS, 3, HEAD)],
  'RST_STREAM on stream 0': ['PROTOCOL_ERROR', (to) => to.send(RST_STREAM, 0, 0, uint32(8))],
  'RST_STREAM on an idle stream': ['PROTOCOL_ERROR', (to) => to.send(RST_STREAM, 0, 9, uint32(8))],
  'RST_STREAM of a wrong size': ['FRAME_SIZE_ERROR', (to) => to.send(RST_STREAM, 0, 1, Buffer.alloc(3))],
  'WINDOW_UPDATE on an idle stream': ['PROTOCOL_ERROR', (to) => to.send(WINDOW_UPDATE, 0, 9, uint32(1))],
  'WINDOW_UPDATE of 0': ['PROTOCOL_ERROR', (to) => to.send(WINDOW_UPDATE, 0, 0, uint32(0))],
  'WINDOW_UPDATE of a wrong size': ['FRAME_SIZE_ERROR', (to) => to.send(WINDOW_UPDATE, 0, 0, Buffer.alloc(3))],
  'a window beyond 2^31-1': ['FLOW_CONTROL_ERROR', (to) => to.send(WINDOW_UPDATE, 0, 0, uint32(2 ** 31 - 1))],
  'SETTINGS on a stream': ['PROTOCOL_ERROR', (to) => to.send(SETTINGS, 0, 1)],
  'SETTINGS of a wrong size': ['FRAME_SIZE_ERROR', (to) => to.send(SETTINGS, 0, 0, Buffer.alloc(5))],
  'an acknowledgement with settings': ['FRAME_SIZE_ERROR', (to) => to.send(SETTINGS, ACK, 0, setting(4, 1))],
  'settings that allow pushes': ['PROTOCOL_ERROR', (to) => to.send(SETTINGS, 0, 0, setting(2, 1))],
  'a first window beyond 2^31-1': ['FLOW_CONTROL_ERROR', (to) => to.send(SETTINGS, 0, 0, setting(4, 2 ** 31))],
  'a frame size below 16384': ['PROTOCOL_ERROR', (to) => to.send(SETTINGS, 0, 0, setting(5, 16_383))],
  'extended CONNECT that is neither on nor off': ['PROTOCOL_ERROR', (to) => to.send(SETTINGS, 0, 0, setting(8, 2))],
  'windows that settings push beyond 2^31-1': [
    'FLOW_CONTROL_ERROR',
    (to) => {
      to.send(WINDOW_UPDATE, 0, 1, uint32(2 ** 31 - 1 - 65_535))
      to.send(SETTINGS, 0, 0, setting(4, 65_536))
    },
  ],
  'PING on a stream': ['PROTOCOL_ERROR', (to) => to.send(PING, 0, 1, Buffer.alloc(8))],
  'PING of a wrong size': ['FRAME_SIZE_ERROR', (to) => to.send(PING, 0, 0, Buffer.alloc(7))],
  'GOAWAY on a stream': ['PROTOCOL_ERROR', (to) => to.send(GOAWAY, 0, 1, goaway(1, 0))],
  'GOAWAY of a wrong size': ['FRAME_SIZE_ERROR', (to) => to.send(GOAWAY, 0, 0, Buffer.alloc(7))],
  'PRIORITY on stream 0': ['PROTOCOL_ERROR', (to) => to.send(PRIORITY, 0, 0, Buffer.alloc(5))],
  'a stream that depends on itself': [
    'PROTOCOL_ERROR',
    (to) => to.send(PRIORITY, 0, 1, Buffer.concat([uint32(1), Buffer.alloc(1)])),
  ],
  'CONTINUATION without a beginning': ['PROTOCOL_ERROR', (to) => to.send(CONTINUATION, END_HEADERS, 1, HEAD)],
  'a frame inside a head': [
    'PROTOCOL_ERROR',
    (to) => {
      to.send(HEADERS, 0, 1, HEAD)
      to.send(PING, 0, 0, Buffer.alloc(8))
    },
  ],
  'a head in too many frames': [
    'ENHANCE_YOUR_CALM',
    (to) => {
      to.send(HEADERS, 0, 1, HEAD)
      for (let i = 0; i < 100; i++) to.send(CONTINUATION, 0, 1, literalFields([['x', 'y']]))
    },
  ],
  'a head without end': [
    'ENHANCE_YOUR_CALM',
    (to) => {
      to.send(HEADERS, 0, 1, HEAD)
      for (let i = 0; i < 60; i++) to.send(CONTINUATION, 0, 1, literalFields([['x', 'y'.repeat(16_000)]]))
    },
  ],
  'a head that is no HPACK': ['COMPRESSION_ERROR', (to) => to.send(HEADERS, END_HEADERS, 1, Buffer.from([0xff, 0xff]))],
  'an entry that no table has': ['COMPRESSION_ERROR', (to) => to.send(HEADERS, END_HEADERS, 1, Buffer.from([0xfe]))],
  'a table larger than allowed': [
    'COMPRESSION_ERROR',
    (to) => to.send(HEADERS, END_HEADERS, 1, Buffer.from([0x3f, 0xe1, 0x7f])),
  ],
  'padding longer than its DATA': ['PROTOCOL_ERROR', (to) => to.send(DATA, PADDED, 1, Buffer.from([9, 1, 2]))],
  'padding longer than its HEADERS': [
    'PROTOCOL_ERROR',
    (to) => to.send(HEADERS, END_HEADERS | PADDED, 1, Buffer.from([9, 1, 2])),
  ],
  'a frame that is too long': ['FRAME_SIZE_ERROR', (to) => to.send(PING, 0, 0, Buffer.alloc(16_385))],
  'DATA that is too long': ['FRAME_SIZE_ERROR', (to) => to.send(DATA, 0, 1, Buffer.alloc(16_385))],
}

for (const [name, [code, breach]] of Object.entries(OF_CONNECTION)) {
  test(`${name} is a connection error`, async (t) => {
    const backend = await useFrameBackend(t, (to) => breach(to))
    const connection = await useHttp2Connection(t, backend.port)
    const sent = sendCall(connection)
    assert.equal(await sent.outcome, `bad_response: connection broke the rules of HTTP/2 (${code})`)
    assert.equal(sent.isUnsent, false)
    assert.equal(connection.available, false)
    assert.equal(connection.active, 0)
    const { received, raw } = backend.connections[0]!
    await until(() => raw.destroyed || received.some(({ type }) => type === GOAWAY))
    const last = received.find(({ type }) => type === GOAWAY)
    if (last !== undefined) assert.equal(nameOf(last.payload.readUInt32BE(4)), code)
  })
}

const NAMES = ['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT']
NAMES.push('STREAM_CLOSED', 'FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR')
NAMES.push('ENHANCE_YOUR_CALM')
const nameOf = (code: number): string => NAMES[code] ?? String(code)

/** A body that never ends, so that the stream stays open after its response. */
const ENDLESS: Source = { length: -1, pipe() {}, resume() {}, cancel() {} }
const fields = (count: number): [string, string][] => Array.from({ length: count }, (_, i) => [`x-${i}`, 'a'])

const OF_STREAM: Record<string, [code: string, message: RegExp, breach: Breach]> = {
  'no status': ['PROTOCOL_ERROR', /head \(bad_status\)/, (to) => to.trailers(1, [['x', 'y']])],
  'an empty head': ['PROTOCOL_ERROR', /head \(bad_status\)/, (to) => to.trailers(1, [])],
  'a status of two digits': ['PROTOCOL_ERROR', /head \(bad_status\)/, (to) => to.trailers(1, [[':status', '20']])],
  'a status below 100': ['PROTOCOL_ERROR', /head \(bad_status\)/, (to) => to.trailers(1, [[':status', '099']])],
  'a status that is no number': ['PROTOCOL_ERROR', /head \(bad_status\)/, (to) => to.trailers(1, [[':status', 'abc']])],
  'two statuses': ['PROTOCOL_ERROR', /head \(bad_status\)/, (to) => to.trailers(1, [STATUS, STATUS])],
  'a status after a field': [
    'PROTOCOL_ERROR',
    /head \(bad_pseudo_header\)/,
    (to) => to.trailers(1, [['x', 'y'], STATUS]),
  ],
  'a pseudo-header of requests': ['PROTOCOL_ERROR', /bad_pseudo_header/, (to) => to.head(1, [[':path', '/']])],
  'a length that is no number': [
    'PROTOCOL_ERROR',
    /bad_content_length/,
    (to) => to.head(1, [['content-length', '+1']]),
  ],
  'two lengths': [
    'PROTOCOL_ERROR',
    /second_content_length/,
    (to) =>
      to.head(1, [
        ['content-length', '1'],
        ['content-length', '1'],
      ]),
  ],
  'an interim response that ends': ['PROTOCOL_ERROR', /bad_interim/, (to) => to.trailers(1, [[':status', '103']])],
  'an interim response with a length': [
    'PROTOCOL_ERROR',
    /bad_interim/,
    (to) =>
      to.send(
        HEADERS,
        END_HEADERS,
        1,
        literalFields([
          [':status', '103'],
          ['content-length', '1'],
        ]),
      ),
  ],
  'a change of protocol': [
    'PROTOCOL_ERROR',
    /bad_interim/,
    (to) => to.send(HEADERS, END_HEADERS, 1, literalFields([[':status', '101']])),
  ],
  'DATA before a head': ['PROTOCOL_ERROR', /has no head/, (to) => to.data(1, 'x')],
  'a length and no body': [
    'PROTOCOL_ERROR',
    /not as long/,
    (to) => to.head(1, [['content-length', '1']], END_HEADERS | END_STREAM),
  ],
  'more DATA than its length': [
    'PROTOCOL_ERROR',
    /not as long as announced/,
    (to) => {
      to.head(1, [['content-length', '1']])
      to.data(1, 'xx')
    },
  ],
  'less DATA than its length': [
    'PROTOCOL_ERROR',
    /not as long as announced/,
    (to) => {
      to.head(1, [['content-length', '2']])
      to.data(1, 'x', true)
    },
  ],
  'less DATA than its length before trailers': [
    'PROTOCOL_ERROR',
    /not as long as announced/,
    (to) => {
      to.head(1, [['content-length', '2']])
      to.data(1, 'x')
      to.trailers(1, [['x', 'y']])
    },
  ],
  'a second head': [
    'PROTOCOL_ERROR',
    /second head/,
    (to) => {
      to.head(1)
      to.send(HEADERS, END_HEADERS, 1, literalFields([['x', 'y']]))
    },
  ],
  'a status among its trailers': [
    'PROTOCOL_ERROR',
    /trailers \(bad_pseudo_header\)/,
    (to) => {
      to.head(1)
      to.trailers(1, [STATUS])
    },
  ],
  'a window update of 0': ['PROTOCOL_ERROR', /rules of HTTP\/2/, (to) => to.send(WINDOW_UPDATE, 0, 1, uint32(0))],
  'a window beyond 2^31-1': [
    'FLOW_CONTROL_ERROR',
    /stream broke the rules of HTTP\/2 \(FLOW_CONTROL_ERROR\)/,
    (to) => to.send(WINDOW_UPDATE, 0, 1, uint32(2 ** 31 - 1)),
  ],
  'too many fields': ['ENHANCE_YOUR_CALM', /head too large/, (to) => to.head(1, fields(501))],
  'too large a head': [
    'ENHANCE_YOUR_CALM',
    /head too large/,
    (to) => {
      to.send(HEADERS, 0, 1, HEAD)
      for (let i = 1; i <= 20; i++) {
        const block = literalFields([['x', 'y'.repeat(16_000)]])
        to.send(CONTINUATION, i === 20 ? END_HEADERS : 0, 1, block)
      }
    },
  ],
  'too many trailers': [
    'ENHANCE_YOUR_CALM',
    /trailers too large/,
    (to) => {
      to.head(1)
      to.trailers(1, fields(501))
    },
  ],
}

for (const [name, [code, message, breach]] of Object.entries(OF_STREAM)) {
  test(`a response with ${name} is a stream error, and the connection goes on`, async (t) => {
    const backend = await useFrameBackend(t, (to, stream) => {
      if (stream === 1) breach(to)
      else to.head(stream, [], END_HEADERS | END_STREAM)
    })
    const connection = await useHttp2Connection(t, backend.port)
    const first = sendCall(connection, { method: 'POST', body: ENDLESS })
    const outcome = await first.outcome
    assert.match(outcome, /^bad_response: /)
    assert.match(outcome, message)
    const { received } = backend.connections[0]!
    await until(() => received.some(({ type }) => type === RST_STREAM))
    assert.equal(nameOf(received.find(({ type }) => type === RST_STREAM)!.payload.readUInt32BE(0)), code)
    const next = sendCall(connection)
    assert.equal(await next.outcome, 'whole')
    assert.equal(connection.active, 0)
  })
}

test('frames after the end of a response reset the stream and leave the response whole', async (t) => {
  for (const again of [
    (to: BackendConnection) => to.data(1, 'more'),
    (to: BackendConnection) => to.trailers(1, [['x', 'y']]),
  ]) {
    const backend = await useFrameBackend(t, (to) => {
      to.head(1)
      to.data(1, 'all', true)
      again(to)
    })
    const connection = await useHttp2Connection(t, backend.port)
    const sent = sendCall(connection, { method: 'POST', body: ENDLESS })
    assert.equal(await sent.outcome, 'whole')
    assert.equal(sent.body, 'all')
    const { received } = backend.connections[0]!
    await until(() => received.some(({ type }) => type === RST_STREAM))
    assert.equal(nameOf(received.find(({ type }) => type === RST_STREAM)!.payload.readUInt32BE(0)), 'STREAM_CLOSED')
    assert.equal(connection.active, 0)
  }
})

test('a backend that ignores the window of a stream has that stream reset', async (t) => {
  const backend = await useFrameBackend(t, (to) => {
    to.head(1)
    for (let i = 0; i < 20; i++) to.send(DATA, 0, 1, Buffer.alloc(16_384))
  })
  const connection = await useHttp2Connection(t, backend.port)
  const sent = sendCall(connection, {}, { isBlocked: true })
  assert.match(await sent.outcome, /^bad_response: stream broke the rules of HTTP\/2 \(FLOW_CONTROL_ERROR\)/)
  assert.equal(connection.available, true)
})

test('bytes that are no HTTP/2 fail with the first frame', async (t) => {
  for (const greeting of [
    'HTTP/1.1 400 Bad Request\r\n\r\n',
    'SSH-2.0-OpenSSH_9.2\r\n',
    '\0\0\x08\x06\0\0\0\0\0unasked?',
  ]) {
    const backend = await useTcpServer(t, (socket) => void socket.write(greeting, 'latin1'))
    const connection = await useHttp2Connection(t, backend.port)
    assert.match(await sendCall(connection).outcome, /^bad_response: connection broke the rules of HTTP\/2 /)
  }
})

const FLOODS: Record<string, (round: number) => Buffer> = {
  pings: () => frame(PING, 0, 0, Buffer.alloc(8)),
  'answers to pings': () => frame(PING, ACK, 0, Buffer.alloc(8)),
  settings: () => frame(SETTINGS, 0, 0, Buffer.alloc(0)),
  acknowledgements: () => frame(SETTINGS, ACK, 0, Buffer.alloc(0)),
  'empty DATA': () => frame(DATA, 0, 1, Buffer.alloc(0)),
  priorities: () => frame(PRIORITY, 0, 1, Buffer.alloc(5)),
  'window updates': () => frame(WINDOW_UPDATE, 0, 0, uint32(1)),
  'unknown frames': () => frame(99, 0, 0, Buffer.alloc(0)),
  'notices of leaving': () => frame(GOAWAY, 0, 0, goaway(2 ** 31 - 1, 0)),
}

for (const [name, next] of Object.entries(FLOODS)) {
  test(`a backend that sends ${name} without end is left`, async (t) => {
    const backend = await useFrameBackend(t, (to) => {
      to.head(1)
      to.data(1, 'begun')
      for (let round = 0; round < 30; round++) {
        to.socket.write(Buffer.concat(Array.from({ length: 100 }, (_, i) => next(round * 100 + i))))
      }
    })
    const connection = await useHttp2Connection(t, backend.port)
    const sent = sendCall(connection)
    assert.equal(await sent.outcome, 'bad_response: connection carries too many frames without effect, inside the body')
    assert.equal(connection.available, false)
  })
}

test('a backend that asks by pings and does not read does not fill our memory', async (t) => {
  const backend = await useFrameBackend(t, (to) => {
    to.head(1)
    to.socket.pause()
    // Each read carries some body data, so that the pings stay below the flood limit.
    const pings = Array.from({ length: 4 }, () => frame(PING, 0, 0, Buffer.alloc(8)))
    const piece = Buffer.concat([...pings, frame(DATA, 0, 1, Buffer.from('x'))])
    const write = (): void => {
      while (to.socket.writable && to.socket.write(piece));
    }
    to.socket.on('drain', write)
    write()
  })
  const connection = await useHttp2Connection(t, backend.port)
  sendCall(connection)
  await until(() => connection.socket.isPaused())
  assert.ok(connection.output.unsent < 4 * 2 ** 20, String(connection.output.unsent))
})

test('padding is accepted, and its window is returned', async (t) => {
  const rounds = 3_000
  const backend = await useFrameBackend(t, (to) => {
    to.send(HEADERS, END_HEADERS | PADDED, 1, Buffer.concat([Buffer.from([3]), HEAD, Buffer.alloc(3)]))
    // Three quarters of a megabyte of padding: more than the window of a stream.
    const padded = Buffer.concat([Buffer.from([255]), Buffer.from('x'), Buffer.alloc(255)])
    const more = Array.from({ length: rounds }, () => padded)
    let room = 262_144
    const write = (): void => {
      for (let next = more[0]; next !== undefined && room >= next.length; next = more[0]) {
        more.shift()
        room -= next.length
        to.send(DATA, PADDED | (more.length === 0 ? END_STREAM : 0), 1, next)
      }
    }
    let seen = 0
    to.socket.on('data', () => {
      for (; seen < to.received.length; seen++) {
        const { type, stream, payload } = to.received[seen]!
        if (type === WINDOW_UPDATE && stream === 1) room += payload.readUInt32BE(0)
      }
      write()
    })
    write()
  })
  const connection = await useHttp2Connection(t, backend.port)
  const sent = sendCall(connection)
  assert.equal(await sent.outcome, 'whole')
  assert.equal(sent.body, 'x'.repeat(rounds))
})

test('frames in flight for a cancelled call are dropped, and their fields stay in the table', async (t) => {
  // A literal that goes into the table, as entry 62.
  const indexed = Buffer.from('\x88\x40\x01x\x05value', 'latin1')
  const backend = await useFrameBackend(t, (to, stream) => {
    if (stream === 1) return
    to.send(HEADERS, END_HEADERS, 1, indexed)
    to.send(DATA, END_STREAM, 1, Buffer.from('late'))
    to.reset(1, 0)
    to.send(HEADERS, END_HEADERS | END_STREAM, stream, Buffer.from([0x88, 0x80 | 62]))
  })
  const connection = await useHttp2Connection(t, backend.port)
  const first = sendCall(connection)
  first.call.cancel(new Error('not wanted'))
  const second = sendCall(connection)
  assert.equal(await second.outcome, 'whole')
  assert.equal(second.headers?.get('x'), 'value')
})

/** A body that is written as the sink accepts it. */
function upload(size: number): Source {
  let left = size
  let give = (): void => {}
  return {
    length: -1,
    pipe(sink) {
      sink.source = this
      give = () => {
        while (left > 0) {
          const piece = Buffer.alloc(Math.min(left, 10_000), 'u')
          left -= piece.length
          sink.write(piece)
          if (left > 0 && !sink.flush()) return
        }
        sink.end(null)
      }
      give()
    },
    resume: () => give(),
    cancel() {},
  }
}

const uploaded = ({ received }: BackendConnection): number =>
  received.filter(({ type }) => type === DATA).reduce((sum, { payload }) => sum + payload.length, 0)

test('windows that settings change midway hold for streams that are open', async (t) => {
  const backend = await useFrameBackend(t, () => {})
  const connection = await useHttp2Connection(t, backend.port)
  const sent = sendCall(connection, { method: 'POST', body: upload(200_000) })
  await until(() => backend.connections[0] !== undefined && uploaded(backend.connections[0]) === 65_535)
  const [to] = backend.connections
  assert.ok(to !== undefined)
  // Smaller: the window of the stream is now 65,435 below zero.
  to.send(SETTINGS, 0, 0, setting(4, 100))
  to.send(WINDOW_UPDATE, 0, 0, uint32(1_000_000))
  to.send(WINDOW_UPDATE, 0, 1, uint32(65_435))
  to.send(PING, 0, 0, Buffer.from('received'))
  await until(() => to.received.some(({ type, flags }) => type === PING && flags === ACK))
  assert.equal(uploaded(to), 65_535)
  to.send(SETTINGS, 0, 0, setting(4, 1_100))
  await until(() => uploaded(to) === 66_535)
  to.send(SETTINGS, 0, 0, setting(4, 1_000_000))
  await until(() => uploaded(to) === 200_000)
  assert.equal(to.received.findLast(({ type }) => type === DATA)?.flags, END_STREAM)
  to.head(1, [], END_HEADERS | END_STREAM)
  assert.equal(await sent.outcome, 'whole')
})

test('frames keep to the size that the backend takes', async (t) => {
  const backend = await useFrameBackend(t, (to) => to.head(1, [], END_HEADERS | END_STREAM))
  const connection = await useHttp2Connection(t, backend.port)
  await until(() => backend.connections.length === 1)
  const [to] = backend.connections
  to!.send(SETTINGS, 0, 0, Buffer.concat([setting(5, 32_768), setting(4, 1_000_000)]))
  to!.send(WINDOW_UPDATE, 0, 0, uint32(1_000_000))
  await until(() => to!.received.filter(({ type, flags }) => type === SETTINGS && flags === ACK).length === 2)
  sendCall(connection, { method: 'POST', body: upload(0) })
  const whole = Buffer.alloc(100_000)
  sendCall(connection, {
    method: 'POST',
    body: { length: whole.length, pipe: (sink) => (sink.write(whole), sink.end(null)), resume() {}, cancel() {} },
  })
  await until(() => uploaded(to!) === whole.length)
  const sizes = to!.received
    .filter(({ type, stream }) => type === DATA && stream === 3)
    .map(({ payload }) => payload.length)
  assert.deepEqual(sizes, [32_768, 32_768, 32_768, 1_696])
})

test('the limit of streams may change midway', async (t) => {
  const backend = await useFrameBackend(t, () => {})
  const connection = await useHttp2Connection(t, backend.port)
  sendCall(connection)
  await until(() => backend.connections.length === 1)
  const [to] = backend.connections
  for (const [limit, available] of [
    [1, false],
    [3, true],
    [0, false],
    [100, true],
  ] as const) {
    to!.send(SETTINGS, 0, 0, setting(3, limit))
    await until(() => connection.available === available)
  }
})

test('a table of fields that the backend does not want is given up with the next head', async (t) => {
  const backend = await useFrameBackend(t, (to, stream) => to.head(stream, [], END_HEADERS | END_STREAM))
  const connection = await useHttp2Connection(t, backend.port)
  await until(() => backend.connections.length === 1)
  const [to] = backend.connections
  to!.send(SETTINGS, 0, 0, setting(1, 0))
  await until(() => to!.received.filter(({ type, flags }) => type === SETTINGS && flags === ACK).length === 2)
  for (const first of [0x20, 0x82]) {
    assert.equal(await sendCall(connection).outcome, 'whole')
    assert.equal(to!.received.findLast(({ type }) => type === HEADERS)?.payload[0], first)
  }
})

test('two notices of leaving: calls end, then those above the last stream may be sent again', async (t) => {
  const backend = await useFrameBackend(t, () => {})
  const connection = await useHttp2Connection(t, backend.port)
  const calls = [sendCall(connection), sendCall(connection), sendCall(connection)]
  await until(() => backend.connections[0]?.received.filter(({ type }) => type === HEADERS).length === 3)
  const [to] = backend.connections
  to!.goaway(2 ** 31 - 1, 0)
  await until(() => !connection.available)
  assert.equal(connection.active, 3)
  to!.goaway(3, 0)
  assert.equal(await calls[2]!.outcome, 'connection_lost: stream refused by the backend')
  assert.equal(calls[2]!.isUnsent, true)
  assert.equal(connection.active, 2)
  for (const [at, stream] of [1, 3].entries()) {
    to!.head(stream, [], END_HEADERS | END_STREAM)
    assert.equal(await calls[at]!.outcome, 'whole')
  }
  await until(() => to!.raw.destroyed)
})

test('a GOAWAY with an error says so to the calls that it ends', async (t) => {
  const backend = await useFrameBackend(t, (to, stream) => {
    if (stream === 1) to.head(1)
    else to.goaway(3, 11)
  })
  const connection = await useHttp2Connection(t, backend.port)
  const [begun, unanswered] = [sendCall(connection), sendCall(connection)]
  assert.equal(
    await begun.outcome,
    'connection_lost: stream closed before the response ended (GOAWAY with ENHANCE_YOUR_CALM), inside the body',
  )
  assert.equal(
    await unanswered.outcome,
    'connection_lost: connection closed before the response: GOAWAY with ENHANCE_YOUR_CALM',
  )
})

test('a stream that the backend resets with PROTOCOL_ERROR is lost, and no bad response', async (t) => {
  const backend = await useFrameBackend(t, (to) => to.reset(1, 1))
  const connection = await useHttp2Connection(t, backend.port)
  assert.match(
    await sendCall(connection).outcome,
    /^connection_lost: stream closed before the response ended \(code 1\)/,
  )
})

test('interim responses, HEAD, 204 and 304 pass, whatever length they announce', async (t) => {
  const backend = await useFrameBackend(t, (to, stream) => {
    to.send(HEADERS, END_HEADERS, stream, literalFields([[':status', '103']]))
    const status = ['200', '204', '304'][(stream - 1) / 2] ?? ''
    const head: [string, string][] = [
      [':status', status],
      ['content-length', '5'],
    ]
    to.send(HEADERS, END_HEADERS, stream, literalFields(head))
    to.send(DATA, END_STREAM, stream)
  })
  const connection = await useHttp2Connection(t, backend.port)
  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ] as const) {
    const sent = sendCall(connection, { method })
    assert.equal(await sent.outcome, 'whole')
    assert.deepEqual([sent.status, sent.length, sent.informed, sent.body], [status, 0, [103], ''])
  }
  await until(() => connection.active === 0)
})

test('settings of the client say that nothing is to be pushed', async (t) => {
  const backend = await useFrameBackend(t, () => {})
  await useHttp2Connection(t, backend.port)
  await until(() => (backend.connections[0]?.received.length ?? 0) >= 2)
  const [settings, window] = backend.connections[0]!.received
  assert.ok(settings!.payload.includes(setting(2, 0)))
  assert.ok(settings!.payload.includes(setting(6, 262_144)))
  assert.deepEqual([window!.type, window!.stream], [WINDOW_UPDATE, 0])
})
