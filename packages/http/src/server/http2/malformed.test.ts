import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  FrameClient,
  GOAWAY,
  HEADERS,
  literalFields,
  PING,
  RST_STREAM,
  SETTINGS,
} from '../../testing/frame-client.ts'
import { collector, reply, startServer, until } from '../../testing/http2-server.ts'

type Fields = [string, string][]

const request = (...more: Fields): Fields => [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/x'],
  ...more,
]
const get = (path: string, authority = 'a.test'): Fields => [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', authority],
  [':path', path],
]

/** Requests that must never reach a handler. `reset 1` means that the message is malformed (RFC 9113 section 8.1.1). */
const refusals: [string, Fields, string][] = [
  ['transfer-encoding (H2.TE)', request(['transfer-encoding', 'chunked']), 'reset 1'],
  ['connection', request(['connection', 'close']), 'reset 1'],
  ['keep-alive', request(['keep-alive', '1']), 'reset 1'],
  ['upgrade', request(['upgrade', 'h2c']), 'reset 1'],
  ['proxy-connection', request(['proxy-connection', 'close']), 'reset 1'],
  ['te other than trailers', request(['te', 'gzip']), 'reset 1'],
  ['a name in upper case', request(['Transfer-Encoding', 'chunked']), 'reset 1'],
  ['a blank before a value', request(['x', ' 1']), 'status 400'],
  ['a blank after a value', request(['x', '1 ']), 'status 400'],
  ['a tab before a value', request(['x', '\t1']), 'status 400'],
  ['a tab after a value', request(['x', '1\t']), 'status 400'],
  ['a value of blanks', request(['x', '  ']), 'status 400'],
  ['a blank in a length', request(['content-length', ' 0']), 'status 400'],
  ['a blank in an authority', get('/', ' a.test'), 'reset 1'],
  ['a port beyond the last', get('/', 'a.test:65536'), 'status 400'],
  ['an escaped NUL in the authority', get('/', 'a%00'), 'status 400'],
  ['a name with a space', request(['x y', '1']), 'status 400'],
  ['a name with a colon', request(['x:y', '1']), 'status 400'],
  ['a name with a line break (H2 CRLF)', request(['x\r\ntransfer-encoding: chunked', '1']), 'status 400'],
  ['a value with CR LF (H2 CRLF)', request(['x', '1\r\ntransfer-encoding: chunked']), 'status 400'],
  ['a value with LF', request(['x', '1\nb: 2']), 'status 400'],
  ['a value with CR', request(['x', '1\rb']), 'status 400'],
  ['a value with NUL', request(['x', '1\0b']), 'status 400'],
  ['a cookie with LF', request(['cookie', 'a=1\nb: 2']), 'status 400'],
  ['a path with CR LF', get('/ HTTP/1.1\r\nhost: b\r\n\r\nGET /'), 'reset 1'],
  ['a method with a space', [[':method', 'GET / HTTP/1.1'], ...get('/').slice(1)], 'status 400'],
  ['an authority with CR LF', get('/', 'a.test\r\nx: 1'), 'reset 1'],
  ['an unknown pseudo-header', request([':other', '1']), 'reset 1'],
  ['a pseudo-header of responses', request([':status', '200']), 'reset 1'],
  [
    'a pseudo-header after a field',
    [
      [':method', 'GET'],
      [':scheme', 'http'],
      ['x', '1'],
      [':path', '/'],
    ],
    'reset 1',
  ],
  ['a second path', request([':path', '/y']), 'reset 1'],
  ['a second authority', request([':authority', 'b.test']), 'reset 1'],
  [
    'no path',
    [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':authority', 'a.test'],
    ],
    'reset 1',
  ],
  [
    'no scheme',
    [
      [':method', 'GET'],
      [':path', '/'],
      [':authority', 'a.test'],
    ],
    'reset 1',
  ],
  [
    'no method',
    [
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'a.test'],
    ],
    'reset 1',
  ],
  [
    'no authority',
    [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
    ],
    'reset 1',
  ],
  ['an empty path', get(''), 'reset 1'],
  ['a protocol without CONNECT', [[':method', 'GET'], [':protocol', 'websocket'], ...get('/').slice(1)], 'reset 1'],
  ['a protocol that is no word', [[':method', 'CONNECT'], [':protocol', 'a b'], ...get('/').slice(1)], 'reset 1'],
  [
    'a second protocol',
    [[':method', 'CONNECT'], [':protocol', 'a'], [':protocol', 'a'], ...get('/').slice(1)],
    'reset 1',
  ],
  [
    'a protocol without a path',
    [
      [':method', 'CONNECT'],
      [':protocol', 'websocket'],
      [':scheme', 'http'],
      [':authority', 'a.test'],
    ],
    'reset 1',
  ],
  ['two lengths', request(['content-length', '0'], ['content-length', '0']), 'status 400'],
  ['a list of lengths', request(['content-length', '0, 0']), 'status 400'],
  ['a signed length', request(['content-length', '+0']), 'status 400'],
  ['a length without a body (H2.CL)', request(['content-length', '5']), 'reset 1'],
  [
    'two hosts',
    [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      ['host', 'a'],
      ['host', 'a'],
    ],
    'status 400',
  ],
  ['a host that differs from the authority', request(['host', 'b.test']), 'status 400'],
  ['a user in the authority', get('/', 'u@a.test'), 'status 400'],
  ['an authority with a path', get('/', 'a.test/y'), 'status 400'],
  ['an absolute path', get('http://a.test/'), 'status 400'],
  ['a path with a space', get('/a b'), 'status 400'],
  ['a path with a fragment', get('/a#b'), 'status 400'],
  ['a path with a backslash', get('/a\\b'), 'status 400'],
  ['a path beyond ASCII', get('/\xe9'), 'status 400'],
  ['dot segments', get('/a/../b'), 'status 400'],
  ['encoded dot segments', get('/a/%2e%2E/b'), 'status 400'],
  ['an asterisk with GET', get('*'), 'status 400'],
  ['another scheme', [[':method', 'GET'], [':scheme', 'ftp'], ...get('/').slice(2)], 'status 400'],
  [
    'CONNECT without a port',
    [
      [':method', 'CONNECT'],
      [':authority', 'a.test'],
    ],
    'status 400',
  ],
  ['CONNECT with a path', [[':method', 'CONNECT'], ...get('/').slice(1)], 'reset 1'],
]

test('requests that another hop could read differently reach no handler', async (t) => {
  const server = await startServer((exchange) => reply(exchange, 200))
  t.after(() => server.close())
  for (const [what, fields, expected] of refusals) {
    const client = await FrameClient.open(server.port)
    client.headers(1, fields)
    const outcome = await client.outcome(1)
    const seen = server.exchanges.splice(0).map((exchange) => exchange.headers.toText())
    assert.deepEqual([outcome, ...seen], [expected], what)
    assert.deepEqual(server.reset.splice(0), expected === 'reset 1' ? ['malformed_head'] : [], what)
    client.destroy()
  }
})

test('a refused request leaves the other streams alone', async (t) => {
  const server = await startServer((exchange) => reply(exchange, 200))
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  client.headers(1, request(['connection', 'close']))
  client.headers(3, request(['host', 'other']))
  client.headers(5, get('/fine'))
  assert.equal(await client.outcome(5), 'status 200')
  assert.equal(await client.outcome(1), 'reset 1')
  assert.equal(await client.outcome(3), 'status 400')
  assert.deepEqual([server.refused, server.reset], [['400 authority_mismatch'], ['malformed_head']])
  client.destroy()
})

test('a body that is not as long as announced resets the stream and aborts the sink', async (t) => {
  const causes: string[] = []
  const ended: string[] = []
  const server = await startServer((exchange) => {
    exchange.observer = { sent: () => {}, gone: () => causes.push('gone') }
    exchange.body.pipe(
      collector(
        (body) => ended.push(body.toString()),
        () => causes.push('aborted'),
      ),
    )
  })
  t.after(() => server.close())
  for (const sent of ['abcdefg', 'abc']) {
    const client = await FrameClient.open(server.port)
    client.headers(1, request(['content-length', '5']), END_HEADERS)
    client.send(DATA, END_STREAM, 1, Buffer.from(sent))
    assert.equal(await client.outcome(1), 'reset 1', sent)
    client.destroy()
  }
  await until(() => causes.length === 4)
  assert.deepEqual(causes, ['aborted', 'gone', 'aborted', 'gone'])
  assert.deepEqual(ended, [])
})

test('a body cut off by a reset without an error is not taken for whole', async (t) => {
  const told: string[] = []
  const server = await startServer((exchange) => {
    exchange.observer = { sent: () => told.push('sent'), gone: () => told.push('gone') }
    exchange.body.pipe(
      collector(
        () => told.push('ended'),
        () => told.push('aborted'),
      ),
    )
  })
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  client.headers(1, request(), END_HEADERS)
  client.send(DATA, 0, 1, Buffer.from('half'))
  await until(() => server.exchanges[0]?.bytesIn === 4)
  client.send(RST_STREAM, 0, 1, Buffer.alloc(4))
  await until(() => told.length >= 2)
  assert.deepEqual(told, ['aborted', 'gone'])
  client.destroy()
})

test('fields that must not come late are left out of trailers, in every spelling', async (t) => {
  const seen: string[] = []
  const server = await startServer((exchange) =>
    exchange.body.pipe(
      collector((_body, trailers) => {
        seen.push(trailers?.toText() ?? '')
        reply(exchange, 200)
      }),
    ),
  )
  t.after(() => server.close())
  const late = ['forwarded', 'x-forwarded-for', 'x_forwarded_proto', 'x.forwarded-host', 'x-real-ip', 'x_real.ip']
    .concat('authorization', 'proxy-authorization', 'cookie', 'expect', 'max-forwards', 'content-type', 'host')
    .map((name): [string, string] => [name, '1'])
  const client = await FrameClient.open(server.port)
  client.headers(1, request(), END_HEADERS)
  client.send(DATA, 0, 1, Buffer.from('x'))
  client.headers(1, [...late, ['x-sum', '2'], ['x-real-ipx', '3']])
  assert.equal(await client.outcome(1), 'status 200')
  assert.deepEqual(seen, ['x-sum: 2\r\nx-real-ipx: 3\r\n'])
  client.destroy()
})

test('blanks around a value in trailers reset the stream, and the body does not look whole', async (t) => {
  const told: string[] = []
  const server = await startServer((exchange) => {
    exchange.observer = { sent: () => told.push('sent'), gone: () => told.push('gone') }
    exchange.body.pipe(
      collector(
        () => told.push('ended'),
        () => told.push('aborted'),
      ),
    )
  })
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  client.headers(1, request(), END_HEADERS)
  client.send(DATA, 0, 1, Buffer.from('x'))
  client.headers(1, [['x-sum', ' 2']])
  assert.equal(await client.outcome(1), 'reset 1')
  assert.deepEqual(told, ['aborted', 'gone'])
  client.destroy()
})

test('pseudo-headers and connection fields in trailers reset the stream', async (t) => {
  const server = await startServer((exchange) => exchange.body.pipe(collector(() => reply(exchange, 200))))
  t.after(() => server.close())
  for (const field of [
    [':path', '/y'],
    ['transfer-encoding', 'chunked'],
  ] satisfies Fields) {
    const client = await FrameClient.open(server.port)
    client.headers(1, request(), END_HEADERS)
    client.send(DATA, 0, 1, Buffer.from('x'))
    client.headers(1, [field])
    assert.equal(await client.outcome(1), 'reset 1', field[0])
    client.destroy()
  }
})

test('a head over the limit is refused and the connection lives on', async (t) => {
  const server = await startServer((exchange) => reply(exchange, 200))
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  client.headers(1, request(['x', 'y'.repeat(15_000)], ['z', 'y'.repeat(1_300)]))
  assert.equal(await client.outcome(1), 'status other')
  assert.deepEqual(server.refused, ['431 head_too_large'])
  client.headers(3, request(...Array.from({ length: 300 }, (_, i): [string, string] => [`x${i}`, ''])))
  assert.equal(await client.outcome(3), 'reset 11')
  client.headers(5, get('/'))
  assert.equal(await client.outcome(5), 'status 200')
  client.destroy()
})

test('an endless head ends the connection', async (t) => {
  const server = await startServer((exchange) => reply(exchange, 200))
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  client.send(HEADERS, 0, 1, literalFields(get('/')))
  const piece = literalFields([['x', 'y'.repeat(1_000)]])
  for (let i = 0; i < 1_000 && !client.closed; i++) {
    client.send(CONTINUATION, 0, 1, piece)
    if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  assert.notEqual(await client.outcome(1), 'status 200')
  await client.wait(() => false)
  assert.deepEqual(server.exchanges, [])
})

test('a flood of resets ends the connection', async (t) => {
  const server = await startServer(() => {})
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  for (let stream = 1; stream < 2_000 && !client.closed; stream += 2) {
    client.headers(stream, get('/'))
    client.send(RST_STREAM, 0, stream, Buffer.from([0, 0, 0, 8]))
    if (stream % 51 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const goaway = await client.wait((frame) => frame.type === GOAWAY)
  assert.equal(goaway?.payload.readUInt32BE(4), 11)
  await client.wait(() => false)
  assert.deepEqual(server.refused, ['0 too_many_resets'])
  await until(() => server.closed === 1)
})

test('a flood of pings or settings leaves the other connections alone', async (t) => {
  const server = await startServer((exchange) => reply(exchange, 200))
  t.after(() => server.close())
  for (const [type, payload] of [
    [PING, Buffer.alloc(8)],
    [SETTINGS, Buffer.alloc(0)],
  ] as const) {
    const client = await FrameClient.open(server.port)
    // The client reads nothing, so every reply has to be buffered, or the connection closed.
    client.socket.pause()
    for (let i = 0; i < 20_000 && !client.closed; i++) {
      client.send(type, 0, 0, payload)
      if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    const other = await FrameClient.open(server.port)
    other.headers(1, get('/'))
    assert.equal(await other.outcome(1), 'status 200')
    other.destroy()
    client.destroy()
  }
})

test('streams beyond those allowed are refused, and may be tried again', async (t) => {
  const server = await startServer(() => {}, { maxStreams: 3 })
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  for (const stream of [1, 3, 5, 7]) client.headers(stream, get('/'))
  assert.equal(await client.outcome(7), 'reset 7')
  assert.equal(server.exchanges.length, 3)
  reply(server.exchanges[0]!, 200)
  assert.equal(await client.outcome(1), 'status 200')
  client.headers(9, get('/'))
  await until(() => server.exchanges.length === 4)
  client.destroy()
})
