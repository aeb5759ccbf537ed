import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { sourceOf, type Source } from '../../body/body.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import type { Http2ServerOptions } from './server-connection.ts'
import {
  DATA,
  END_HEADERS,
  FrameClient,
  GOAWAY,
  HEADERS,
  PING,
  RST_STREAM,
  WINDOW_UPDATE,
} from '../../testing/frame-client.ts'
import { collector, reply, startServer, type TestServer, until } from '../../testing/http2-server.ts'

async function start(
  t: TestContext,
  handler: (exchange: Exchange) => void,
  options: Partial<Http2ServerOptions> = {},
): Promise<{ server: TestServer; client: ClientHttp2Session }> {
  const server = await startServer(handler, options)
  const client = connect(`http://127.0.0.1:${server.port}`)
  client.on('error', () => {})
  t.after(async () => {
    client.destroy()
    await server.close()
  })
  return { server, client }
}

interface Answer {
  status: number
  raw: string[]
  body: string
  trailers: string[]
  informed: string[][]
}

/** Reads the whole response to a request whose body may still be written. */
async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  const answer: Answer = { status: 0, raw: [], body: '', trailers: [], informed: [] }
  stream.on('headers', (_fields, _flags, raw) => answer.informed.push(raw))
  stream.on('response', (fields, _flags, raw) => {
    answer.status = Number(fields[':status'])
    answer.raw = raw
  })
  stream.on('trailers', (_fields, _flags, raw) => {
    answer.trailers = raw
  })
  stream.on('data', (chunk: Buffer) => {
    answer.body += chunk.toString('latin1')
  })
  await once(stream, 'close')
  return answer
}

function get(client: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  return answerOf(client.request({ ':path': '/a?b', ':authority': 'a.test', ...headers }))
}

test('a request is handed over with its fields in order and its cookies joined', async (t) => {
  const { server, client } = await start(t, (exchange) => reply(exchange, 200))
  await answerOf(
    client.request(
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':authority', 'A.test:80'],
        [':path', '/a?b=c'],
        ['x', '1'],
        ['cookie', 'a=1'],
        ['y', ''],
        ['x', '2'],
        ['cookie', 'b=2'],
        ['host', 'a.TEST:80'],
        ['te', 'trailers'],
        ['x-forwarded-for', '1.2.3.4'],
        ['trailer', 'z'],
      ].flat(),
    ),
  )
  const exchange = server.exchanges[0]!
  assert.equal(exchange.version, 'HTTP/2')
  assert.equal(exchange.method, 'GET')
  assert.equal(exchange.authority, 'A.test:80')
  assert.equal(exchange.target, '/a?b=c')
  assert.equal(exchange.teTrailers, true)
  assert.equal(exchange.claimsForwarding, true)
  assert.equal(exchange.body.length, 0)
  assert.equal(exchange.headers.toText(), 'x: 1\r\ny: \r\nx: 2\r\nx-forwarded-for: 1.2.3.4\r\ncookie: a=1; b=2\r\n')
})

test('the host field serves where there is no authority', async (t) => {
  const { server, client } = await start(t, (exchange) => reply(exchange, 200))
  await answerOf(client.request({ ':path': '/', host: 'h.test' }))
  assert.equal(server.exchanges[0]!.authority, 'h.test')
  assert.equal(server.exchanges[0]!.headers.has('host'), false)
})

test('OPTIONS * and CONNECT reach the handler', async (t) => {
  const { server, client } = await start(t, (exchange) => {
    if (exchange.method === 'OPTIONS') assert.equal(exchange.takeOver(200, new HeaderBlock()), null)
    reply(exchange, 405)
  })
  await get(client, { ':method': 'OPTIONS', ':path': '*' })
  await answerOf(client.request({ ':method': 'CONNECT', ':authority': 'a.test:443' }))
  assert.deepEqual(
    server.exchanges.map((exchange) => [exchange.method, exchange.authority, exchange.target]),
    [
      ['OPTIONS', 'a.test', '*'],
      ['CONNECT', 'a.test:443', ''],
    ],
  )
})

test('a response loses the fields of the hop and keeps the rest in order', async (t) => {
  const { client } = await start(t, (exchange) =>
    reply(exchange, 200, 'hello', [
      ['X-One', '1'],
      ['Connection', 'close'],
      ['Transfer-Encoding', 'chunked'],
      ['Set-Cookie', 'a'],
      ['Keep-Alive', '1'],
      ['Set-Cookie', 'b'],
      ['Upgrade', 'x'],
    ]),
  )
  const answer = await get(client)
  assert.deepEqual(answer.raw, [
    ':status',
    '200',
    'x-one',
    '1',
    'set-cookie',
    'a',
    'set-cookie',
    'b',
    'content-length',
    '5',
  ])
  assert.equal(answer.body, 'hello')
})

test('a small response is one HEADERS and one DATA frame, and an empty one a single frame', async (t) => {
  const server = await startServer((exchange) => reply(exchange, 200, exchange.target === '/empty' ? '' : 'hello'))
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  for (const [stream, path] of [
    [1, '/full'],
    [3, '/empty'],
  ] as const) {
    client.headers(stream, [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':authority', 'a'],
      [':path', path],
    ])
    await client.wait((frame) => frame.stream === stream && (frame.flags & 1) === 1)
  }
  assert.deepEqual(
    client.frames.filter((frame) => frame.stream > 0).map((frame) => [frame.stream, frame.type, frame.flags]),
    [
      [1, 1, 4],
      [1, 0, 1],
      [3, 1, 5],
    ],
  )
  client.destroy()
})

test('HEAD, 204 and 304 carry no body', async (t) => {
  const { client } = await start(t, (exchange) => {
    const status = Number(exchange.headers.get('want') ?? 200)
    const sink = exchange.respond(status, HeaderBlock.of([['content-length', '5']]), 5)
    sink.write(Buffer.from('hello'))
    sink.end(null)
  })
  const head = await get(client, { ':method': 'HEAD' })
  assert.deepEqual([head.status, head.body, head.raw.includes('content-length')], [200, '', true])
  const noContent = await get(client, { want: '204' })
  assert.deepEqual([noContent.status, noContent.body, noContent.raw.includes('content-length')], [204, '', false])
  const notModified = await get(client, { want: '304' })
  assert.deepEqual([notModified.status, notModified.body], [304, ''])
})

test('a status beyond the known classes counts as a bad gateway', async (t) => {
  const { client } = await start(t, (exchange) => reply(exchange, Number(exchange.target.slice(1))))
  const statusOf = async (sent: number): Promise<number> => (await get(client, { ':path': `/${sent}` })).status
  assert.deepEqual([await statusOf(599), await statusOf(600), await statusOf(999)], [599, 502, 502])
})

test('interim answers come before the response, and 100 when the body is wanted', async (t) => {
  const { client } = await start(t, (exchange) => {
    exchange.inform(103, HeaderBlock.of([['link', '</a.css>']]))
    exchange.body.pipe(collector((body) => reply(exchange, 200, body.toString())))
  })
  const stream = client.request({ ':method': 'POST', expect: '100-continue' })
  const answer = answerOf(stream)
  await once(stream, 'continue')
  stream.end('body')
  assert.deepEqual((await answer).informed, [
    [':status', '103', 'link', '</a.css>'],
    [':status', '100'],
  ])
  assert.equal((await answer).body, 'body')
})

test('an expectation nobody knows is refused', async (t) => {
  const { server, client } = await start(t, () => {})
  assert.equal((await get(client, { expect: 'miracles' })).status, 417)
  assert.deepEqual(server.refused, ['417 unknown_expectation'])
})

test('messages pass both ways at once, and trailers follow them (gRPC)', async (t) => {
  const { client } = await start(t, (exchange) => {
    const out = exchange.respond(200, HeaderBlock.of([['content-type', 'application/grpc']]), -1)
    out.flush()
    exchange.body.pipe({
      source: null,
      write: (chunk) => out.write(Buffer.from('echo ' + chunk.toString())),
      flush: () => out.flush(),
      end: (trailers) =>
        out.end(
          HeaderBlock.of([
            ['grpc-status', '0'],
            ['seen', trailers?.get('sum') ?? ''],
            ['content-length', '1'],
          ]),
        ),
      abort: (cause) => out.abort(cause),
    })
  })
  const stream = client.request(
    { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' },
    { waitForTrailers: true },
  )
  stream.on('wantTrailers', () => stream.sendTrailers({ sum: '42' }))
  const [fields] = await once(stream, 'response')
  assert.equal(fields[':status'], 200)
  for (const word of ['one', 'two']) {
    stream.write(word)
    const [chunk] = await once(stream, 'data')
    assert.equal(String(chunk), 'echo ' + word)
  }
  const rest = answerOf(stream)
  stream.end()
  assert.deepEqual((await rest).trailers, ['grpc-status', '0', 'seen', '42'])
})

test('a server that ends first still gets its trailers through', async (t) => {
  const aborted: string[] = []
  const { client } = await start(t, (exchange) => {
    exchange.body.pipe(
      collector(
        () => {},
        (cause) => aborted.push(cause.message),
      ),
    )
    const sink = exchange.respond(200, HeaderBlock.of([['content-type', 'application/grpc']]), -1)
    sink.write(Buffer.from('last words'))
    sink.end(HeaderBlock.of([['grpc-status', '7']]))
  })
  const stream = client.request({ ':method': 'POST', 'content-type': 'application/grpc' })
  stream.write('first')
  const answer = await answerOf(stream)
  assert.deepEqual([answer.body, answer.trailers], ['last words', ['grpc-status', '7']])
  assert.deepEqual(aborted, ['answered before the request ended'])
})

test('an early answer without a body arrives too', async (t) => {
  const { client } = await start(t, (exchange) => reply(exchange, exchange.method === 'HEAD' ? 200 : 204))
  for (const [method, status] of [
    ['POST', 204],
    ['HEAD', 200],
  ] as const) {
    const stream = client.request({ ':method': method }, { endStream: false })
    stream.on('error', () => {})
    stream.write('some')
    assert.equal((await answerOf(stream)).status, status)
  }
})

test('an early answer arrives whole and stops the upload', async (t) => {
  const { client } = await start(t, (exchange) => reply(exchange, 413, 'too large'))
  const stream = client.request({ ':method': 'POST' })
  stream.on('error', () => {})
  stream.write(Buffer.alloc(1_000_000))
  const answer = await answerOf(stream)
  assert.deepEqual([answer.status, answer.body], [413, 'too large'])
  assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR)
})

test('a slow reader of a large response holds the source back', async (t) => {
  const size = 8 * 2 ** 20
  const { client } = await start(t, (exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), size)
    pump(sink, size)
  })
  const stream = client.request({})
  await once(stream, 'response')
  await until(() => pumped.waiting)
  assert.ok(pumped.sent < 2 ** 20, `${pumped.sent} bytes were taken from the source`)
  let received = 0
  for await (const chunk of stream) received += (chunk as Buffer).length
  assert.equal(received, size)
})

const pumped = { sent: 0, waiting: false }

/** A source that writes as long as the sink accepts data. */
function pump(sink: ReturnType<Exchange['respond']>, size: number): void {
  const source: Source = {
    length: size,
    pipe: () => {},
    resume: () => run(),
    cancel: () => {},
  }
  const run = (): void => {
    pumped.waiting = false
    while (pumped.sent < size) {
      sink.write(Buffer.alloc(16_384, 97))
      pumped.sent += 16_384
      if (!sink.flush()) {
        pumped.waiting = true
        return
      }
    }
    sink.end(null)
  }
  sink.source = source
  run()
}

test('a slow consumer of a large request holds the client back', async (t) => {
  let blocked: Exchange | null = null
  const { client } = await start(t, (exchange) => {
    blocked = exchange
    let asked = false
    exchange.body.pipe({
      source: null,
      write: () => {},
      flush: () => {
        const go = asked
        asked = true
        return go
      },
      end: () => reply(exchange, 200, String(exchange.bytesIn)),
      abort: () => {},
    })
  })
  const body = Buffer.alloc(2 ** 20)
  const stream = client.request({ ':method': 'POST', 'content-length': body.length })
  const answer = answerOf(stream)
  stream.end(body)
  await until(() => blocked !== null && blocked.bytesIn > 0)
  await new Promise((resolve) => client.ping(resolve))
  await new Promise((resolve) => client.ping(resolve))
  const before: number = blocked!.bytesIn
  assert.ok(before <= 65_535)
  blocked!.body.resume()
  assert.equal((await answer).body, String(body.length))
})

test('a body that nobody wants any more is read to its end, while the response goes on', async (t) => {
  const { server, client } = await start(t, (exchange) => {
    exchange.body.pipe({
      source: null,
      write: () => exchange.body.cancel(new Error('enough')),
      flush: () => true,
      end: () => assert.fail('nobody asked'),
      abort: () => assert.fail('nobody asked'),
    })
  })
  const size = 2 ** 20
  const stream = client.request({ ':method': 'POST' })
  const answer = answerOf(stream)
  stream.end(Buffer.alloc(size))
  await until(() => server.exchanges[0]?.bytesIn === size)
  reply(server.exchanges[0]!, 200, 'whole')
  assert.equal((await answer).body, 'whole')
  assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR)
})

test('a client that cancels aborts the request body and tells the observer once', async (t) => {
  const told: string[] = []
  const { client } = await start(t, (exchange) => {
    exchange.observer = { sent: () => told.push('sent'), gone: () => told.push('gone') }
    exchange.body.pipe(
      collector(
        () => told.push('ended'),
        () => told.push('aborted'),
      ),
    )
  })
  const stream = client.request({ ':method': 'POST' })
  stream.on('error', () => {})
  stream.write('half')
  await new Promise((resolve) => client.ping(resolve))
  stream.close(constants.NGHTTP2_CANCEL)
  await until(() => told.length >= 2)
  await new Promise((resolve) => client.ping(resolve))
  assert.deepEqual(told, ['aborted', 'gone'])
})

test('a client that cancels a response cancels its source', async (t) => {
  const cancelled: string[] = []
  const { client } = await start(t, (exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), -1)
    sink.source = { length: -1, pipe: () => {}, resume: () => {}, cancel: () => cancelled.push('source') }
    exchange.observer = { sent: () => {}, gone: () => cancelled.push('gone') }
    sink.write(Buffer.from('begin'))
    sink.flush()
  })
  const stream = client.request({})
  stream.on('error', () => {})
  await once(stream, 'data')
  stream.close(constants.NGHTTP2_CANCEL)
  await until(() => cancelled.length === 2)
  assert.deepEqual(cancelled, ['source', 'gone'])
})

test('a response that breaks off does not look whole, whatever was sent of it', async (t) => {
  const gone: string[] = []
  const { client } = await start(t, (exchange) => {
    exchange.observer = { sent: () => gone.push('sent'), gone: (cause) => gone.push(cause.message) }
    const length = Number(exchange.headers.get('length') ?? 0)
    if (length === 0) return exchange.reset(new Error('early'))
    const sink = exchange.respond(200, new HeaderBlock(), length)
    sink.write(Buffer.from('half'))
    sink.flush()
    setImmediate(() => sink.abort(new Error('late')))
  })
  const outcomes: string[] = []
  for (const length of [0, 10, -1]) {
    const stream = client.request({ length })
    stream.resume()
    const [error] = await once(stream, 'error')
    outcomes.push((error as Error).message.replace('Stream closed with error code NGHTTP2_', ''))
  }
  assert.deepEqual(outcomes, ['INTERNAL_ERROR', 'INTERNAL_ERROR', 'INTERNAL_ERROR'])
  assert.deepEqual(gone, ['early', 'late', 'late'])
})

test('a drain in the middle of a large response leaves it whole', async (t) => {
  const size = 4 * 2 ** 20
  const { server, client } = await start(t, (exchange) =>
    sourceOf(Buffer.alloc(size, 98)).pipe(exchange.respond(200, new HeaderBlock(), size)),
  )
  const stream = client.request({})
  let received = 0
  stream.on('data', (chunk: Buffer) => {
    if (received === 0) server.connections[0]!.drain()
    received += chunk.length
    assert.equal(chunk[chunk.length - 1], 98)
  })
  await once(stream, 'end')
  assert.equal(received, size)
})

test('calls after the client left are harmless', async (t) => {
  const { server, client } = await start(t, () => {})
  const stream = client.request({})
  stream.on('error', () => {})
  await until(() => server.exchanges.length === 1)
  const exchange = server.exchanges[0]!
  let gone = 0
  exchange.observer = { sent: () => assert.fail(), gone: () => gone++ }
  stream.close(constants.NGHTTP2_CANCEL)
  await until(() => gone === 1)
  exchange.inform(103, new HeaderBlock())
  const sink = exchange.respond(200, new HeaderBlock(), -1)
  sink.write(Buffer.from('x'))
  assert.equal(sink.flush(), true)
  sink.end(null)
  exchange.reset(new Error('again'))
  assert.equal(gone, 1)
})

test('a hundred streams at once', async (t) => {
  const { client } = await start(t, (exchange) =>
    exchange.body.pipe(collector((body) => sourceOf(body).pipe(exchange.respond(200, new HeaderBlock(), body.length)))),
  )
  const body = 'x'.repeat(20_000)
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => {
      const stream = client.request({ ':method': 'POST' })
      stream.end(body + i)
      return answerOf(stream)
    }),
  )
  answers.forEach((answer, i) => assert.equal(answer.body, body + i))
})

/** A client over bare TCP, or over TLS. */
async function openFrames(t: TestContext, port: number, kind: 'plain' | 'TLS'): Promise<FrameClient> {
  if (kind === 'plain') return FrameClient.open(port)
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  await once(socket, 'secureConnect')
  const client = FrameClient.over(socket)
  t.after(() => client.destroy())
  return client
}

for (const kind of ['plain', 'TLS'] as const) {
  test(`a drain tells the client first, answers what it sent meanwhile, and closes (${kind})`, async (t) => {
    const server = await startServer(
      (exchange) => {
        if (exchange.target !== '/slow') reply(exchange, 200)
      },
      {},
      kind,
    )
    t.after(() => server.close())
    const client = await openFrames(t, server.port, kind)
    const open = (stream: number, path: string): void =>
      client.headers(stream, [...GET_FIELDS.slice(0, 3), [':path', path]])
    open(1, '/slow')
    await until(() => server.exchanges.length === 1)
    // The client has not received the GOAWAY when it sends another request.
    client.socket.pause()
    server.connections[0]!.drain()
    open(3, '/late')
    client.socket.resume()
    const notice = await client.wait((frame) => frame.type === GOAWAY)
    assert.deepEqual([notice!.payload.readUInt32BE(0), notice!.payload.readUInt32BE(4)], [2 ** 31 - 1, 0])
    const last = await client.wait((frame) => frame.type === GOAWAY && frame !== notice)
    assert.deepEqual([last!.payload.readUInt32BE(0), last!.payload.readUInt32BE(4)], [3, 0])
    assert.equal(await client.outcome(3), 'status 200')
    reply(server.exchanges[0]!, 200)
    assert.equal(await client.outcome(1), 'status 200')
    await client.wait(() => false)
    await until(() => server.closed === 1)
  })
}

test('a stream beyond the last that is answered is left alone, and its fields count for later ones', async (t) => {
  const server = await startServer(() => {})
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  client.headers(1, GET_FIELDS)
  await until(() => server.exchanges.length === 1)
  server.connections[0]!.drain()
  await client.wait((frame) => frame.type === GOAWAY && frame.payload.readUInt32BE(0) === 1)
  client.headers(3, GET_FIELDS, END_HEADERS)
  client.send(DATA, 0, 3, Buffer.from('late'))
  client.send(WINDOW_UPDATE, 0, 3, Buffer.from([0, 0, 0, 1]))
  client.send(RST_STREAM, 0, 3, Buffer.alloc(4))
  reply(server.exchanges[0]!, 200)
  assert.equal(await client.outcome(1), 'status 200')
  await client.wait(() => false)
  assert.equal(server.exchanges.length, 1)
})

test('a destroyed connection tells every observer and does not make a response look whole', async (t) => {
  const causes: string[] = []
  const { server, client } = await start(t, (exchange) => {
    exchange.observer = { sent: () => causes.push('sent'), gone: (cause) => causes.push(cause.message) }
    const sink = exchange.respond(200, new HeaderBlock(), -1)
    sink.write(Buffer.from('half'))
    sink.flush()
  })
  const stream = client.request({})
  await once(stream, 'data')
  const failed = once(stream, 'error')
  server.connections[0]!.destroy(new Error('shutdown'))
  await failed
  await until(() => server.closed === 1)
  assert.deepEqual(causes, ['shutdown'])
})

test('an idle connection is drained, and so is an old one', async (t) => {
  const idle = await startServer(() => {}, { idleTimeoutMs: 50 })
  const old = await startServer(() => {}, { maxDurationMs: 50 })
  t.after(() => Promise.all([idle.close(), old.close()]))
  for (const server of [idle, old]) {
    const client = await FrameClient.open(server.port)
    await client.wait(() => false)
    assert.ok(client.frames.filter((frame) => frame.type === GOAWAY).length >= 2)
  }
})

test('a client that does not answer pings is given up', async (t) => {
  const server = await startServer(() => {}, { keepaliveIntervalMs: 20, keepaliveTimeoutMs: 2_000 })
  t.after(() => server.close())
  const live = await FrameClient.open(server.port)
  const pings = (): number => live.frames.filter((frame) => frame.type === PING).length
  await until(() => pings() >= 4)
  assert.equal(server.closed, 0)
  live.socket.pause()
  await until(() => server.closed === 1)
  live.destroy()
})

test('a stream on which the client neither sends nor reads is reset, others live on', async (t) => {
  const server = await startServer(
    (exchange) => {
      if (exchange.method === 'POST') exchange.body.pipe(collector(() => reply(exchange, 200)))
    },
    { stallTimeoutMs: 40 },
  )
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  const head = (method: string): [string, string][] => [
    [':method', method],
    [':scheme', 'http'],
    [':authority', 'a'],
    [':path', '/'],
  ]
  client.headers(1, head('POST'), END_HEADERS)
  client.headers(3, [...head('POST'), ['content-type', 'application/grpc']], END_HEADERS)
  client.headers(5, head('GET'))
  assert.equal(await client.outcome(1), 'reset 2')
  assert.equal(client.frames.filter((frame) => frame.stream > 1 && frame.type === RST_STREAM).length, 0)
  reply(server.exchanges[2]!, 200)
  assert.ok(await client.wait((frame) => frame.stream === 5 && frame.type === HEADERS))
  client.destroy()
})

test('a client that closes its side of the socket is gone', async (t) => {
  const gone: string[] = []
  const server = await startServer((exchange) => {
    exchange.observer = { sent: () => {}, gone: () => gone.push('gone') }
  })
  t.after(() => server.close())
  const client = new FrameClient(connectSocket({ port: server.port, host: '127.0.0.1', allowHalfOpen: true }))
  client.socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  client.send(4, 0, 0)
  client.headers(1, [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':authority', 'a'],
    [':path', '/'],
  ])
  await until(() => server.exchanges.length === 1)
  client.socket.end()
  await until(() => gone.length === 1 && server.closed === 1)
})

test('a body that broke off before anyone read it is aborted when read', async (t) => {
  const { server, client } = await start(t, () => {})
  const stream = client.request({ ':method': 'POST' })
  stream.on('error', () => {})
  stream.write('half')
  await until(() => server.exchanges.length === 1)
  const exchange = server.exchanges[0]!
  let gone = false
  exchange.observer = {
    sent: () => {},
    gone: () => {
      gone = true
    },
  }
  stream.close(constants.NGHTTP2_CANCEL)
  await until(() => gone)
  const cause = await new Promise<Error>((resolve, reject) =>
    exchange.body.pipe(collector(() => reject(new Error('looked whole')), resolve)),
  )
  assert.match(cause.message, /client closed/)
})

test('a refused HEAD request gets its status', async (t) => {
  const { client } = await start(t, () => {})
  const answer = await get(client, { ':method': 'HEAD', ':path': '/a/../b' })
  assert.deepEqual([answer.status, answer.body], [400, ''])
})

test('a response without a body is sent even when its sink is ended later', async (t) => {
  const told: string[] = []
  let end = (): void => {}
  const { client } = await start(t, (exchange) => {
    exchange.observer = { sent: () => told.push('sent'), gone: () => told.push('gone') }
    const sink = exchange.respond(204, new HeaderBlock(), 0)
    end = () => sink.end(null)
  })
  assert.equal((await get(client)).status, 204)
  await until(() => told.length > 0)
  end()
  assert.deepEqual(told, ['sent'])
})

test('a client that never takes its response is reset', async (t) => {
  const { server, client } = await start(t, (exchange) => reply(exchange, 200, 'x'.repeat(200_000)), {
    idleTimeoutMs: 60,
    stallTimeoutMs: 30,
  })
  const stream = client.request({})
  const failed = once(stream, 'error')
  await once(stream, 'response')
  assert.match(String((await failed)[0]), /INTERNAL_ERROR/)
  await until(() => server.connections[0]!.active === 0)
})

test('many streams that nobody reads leave room for another', async (t) => {
  const { server, client } = await start(t, (exchange) => {
    if (exchange.target === '/last') return reply(exchange, 200, 'ok')
    const sink = exchange.respond(200, new HeaderBlock(), 2 ** 24)
    while (sink.flush()) sink.write(Buffer.alloc(65_536))
  })
  const paused = Array.from({ length: 199 }, () => {
    const stream = client.request({ ':path': '/' })
    stream.on('error', () => {})
    return stream
  })
  await Promise.all(paused.map((stream) => once(stream, 'response')))
  assert.equal(server.exchanges.length, 199)
  assert.equal((await get(client, { ':path': '/last' })).body, 'ok')
})

test('over TLS: requests, a drain and the end of the connection', async (t) => {
  const server = await startServer(
    (exchange) => {
      if (exchange.target !== '/slow') return reply(exchange, 200, 'ok')
      server.connections[0]!.drain()
      setImmediate(() => reply(exchange, 200, 'slow'))
    },
    {},
    'TLS',
  )
  t.after(() => server.close())
  const client = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false, servername: 'a.test' })
  client.on('error', () => {})
  t.after(() => client.destroy())
  assert.equal((await get(client)).body, 'ok')
  assert.equal((await get(client, { ':path': '/slow' })).body, 'slow')
  await until(() => server.closed === 1)
})

const GET_FIELDS: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'a.test'],
  [':path', '/'],
]
