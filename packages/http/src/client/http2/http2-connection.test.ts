import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  connect as connectHttp2,
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { emptySource, type Sink, type Source } from '../../body/body.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { Deadlines } from '../../runtime/deadlines.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { frame, GOAWAY, HEADERS, literalFields, SETTINGS } from '../../testing/frame-client.ts'
import { collector, startServer, until } from '../../testing/http2-server.ts'
import type { UpstreamError, UpstreamHandler, UpstreamRequest, UpstreamResponse } from '../upstream-types.ts'
import { Http2Connection } from './http2-connection.ts'

type StreamHandler = (stream: ServerHttp2Stream, fields: Record<string, unknown>, flags: number, raw: string[]) => void

interface Backend {
  server: Http2Server
  sessions: ServerHttp2Session[]
  port: number
}

async function startBackend(t: TestContext, onStream: StreamHandler, settings = {}): Promise<Backend> {
  const server = createServer({ settings })
  const sessions: ServerHttp2Session[] = []
  server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => {})
  })
  server.on('stream', (stream: ServerHttp2Stream, fields, flags, raw) => {
    stream.on('error', () => {})
    onStream(stream, fields, flags, raw)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const session of sessions) session.destroy()
    server.close()
    await once(server, 'close')
  })
  return { server, sessions, port: (server.address() as AddressInfo).port }
}

class Owner {
  idles = 0
  closes = 0
  idle(): void {
    this.idles++
  }
  closed(): void {
    this.closes++
  }
  fellSilent(): void {}
}

async function open(t: TestContext, port: number): Promise<{ connection: Http2Connection; owner: Owner }> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  t.after(() => socket.destroy())
  const owner = new Owner()
  const deadlines = new Deadlines()
  t.after(() => deadlines.close())
  return { connection: new Http2Connection(socket, owner, deadlines), owner }
}

function request(more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: 'GET',
    target: '/a?b',
    authority: 'a.test',
    headers: new HeaderBlock(),
    body: emptySource,
    upgrade: '',
    teTrailers: false,
    ...more,
  }
}

/** A handler whose outcome can be waited for. */
function handle(): {
  handler: UpstreamHandler
  informed: number[]
  response: Promise<UpstreamResponse>
  error: Promise<UpstreamError>
} {
  const informed: number[] = []
  const response = Promise.withResolvers<UpstreamResponse>()
  const error = Promise.withResolvers<UpstreamError>()
  return {
    informed,
    response: response.promise,
    error: error.promise,
    handler: {
      informed: (status) => void informed.push(status),
      responded: response.resolve,
      upgraded: () => assert.fail('upgraded'),
      failed: error.resolve,
    },
  }
}

function read(source: Source): Promise<{ body: string; trailers: HeaderBlock | null }> {
  return new Promise((resolve, reject) =>
    source.pipe(collector((body, trailers) => resolve({ body: body.toString('latin1'), trailers }), reject)),
  )
}

test('a request arrives with its pseudo-headers and fields in order, without those of the hop', async (t) => {
  let seen: string[] = []
  const { port } = await startBackend(t, (stream, _fields, _flags, raw) => {
    seen = raw
    stream.respond({ ':status': 200, 'x-a': ['1', '2'], 'set-cookie': ['a', 'b'] })
    stream.end('hello')
  })
  const { connection, owner } = await open(t, port)
  const call = handle()
  const headers = HeaderBlock.of([
    ['X-One', '1'],
    ['Host', 'other'],
    ['Connection', 'close'],
    ['Keep-Alive', '1'],
    ['x-one', '2'],
  ])
  connection.send(request({ headers, teTrailers: true }), call.handler)
  assert.equal(connection.active, 1)
  const response = await call.response
  assert.equal(response.status, 200)
  assert.equal(response.body.length, -1)
  assert.match(response.headers.toText(), /^x-a: 1\r\nx-a: 2\r\nset-cookie: a\r\nset-cookie: b\r\n/)
  assert.equal((await read(response.body)).body, 'hello')
  assert.deepEqual(seen.slice(0, 8), [':method', 'GET', ':scheme', 'http', ':authority', 'a.test', ':path', '/a?b'])
  assert.deepEqual(seen.slice(8), ['x-one', '1', 'x-one', '2', 'te', 'trailers'])
  await until(() => connection.active === 0)
  assert.ok(owner.idles >= 1)
  assert.equal(connection.calls, 1)
})

test('the length of a response is 0 without a body, known when announced, else -1', async (t) => {
  const { port } = await startBackend(t, (stream, fields) => {
    const kind = fields[':path']
    if (kind === '/none') stream.respond({ ':status': 200 }, { endStream: true })
    else if (kind === '/204') stream.respond({ ':status': 204 })
    else {
      stream.respond(kind === '/known' ? { ':status': 200, 'content-length': 4 } : { ':status': 200 })
      stream.end('body')
    }
  })
  const { connection } = await open(t, port)
  for (const [target, method, length, body] of [
    ['/none', 'GET', 0, ''],
    ['/204', 'GET', 0, ''],
    ['/known', 'GET', 4, 'body'],
    ['/known', 'HEAD', 0, ''],
    ['/unknown', 'GET', -1, 'body'],
  ] as const) {
    const call = handle()
    connection.send(request({ target, method }), call.handler)
    const response = await call.response
    assert.equal(response.body.length, length, `${method} ${target}`)
    assert.equal((await read(response.body)).body, body, `${method} ${target}`)
  }
  await until(() => connection.active === 0)
})

test('interim answers and trailers of both sides pass', async (t) => {
  let received = ''
  const { port } = await startBackend(t, (stream) => {
    stream.additionalHeaders({ ':status': 103, link: '</a>' })
    stream.on('trailers', (fields) => {
      received += String(fields['sum'])
    })
    stream.on('data', (chunk) => {
      received += String(chunk)
    })
    stream.on('end', () => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'set-cookie': 'no' }))
      stream.end('answer')
    })
  })
  const { connection } = await open(t, port)
  const call = handle()
  const body: Source = {
    length: -1,
    pipe: (sink) => {
      sink.source = body
      sink.write(Buffer.from('body '))
      sink.flush()
      setImmediate(() => sink.end(HeaderBlock.of([['sum', '42']])))
    },
    resume: () => {},
    cancel: () => {},
  }
  connection.send(request({ method: 'POST', body }), call.handler)
  const { body: text, trailers } = await read((await call.response).body)
  assert.deepEqual([received, text, trailers?.toText()], ['body 42', 'answer', 'grpc-status: 0\r\n'])
  assert.deepEqual(call.informed, [103])
})

test('large bodies both ways, with a reader that is slow', async (t) => {
  const { port } = await startBackend(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.pipe(stream)
  })
  const { connection } = await open(t, port)
  const size = 4 * 2 ** 20
  let given = 0
  let feed: Sink | null = null
  const give = (): void => {
    while (given < size) {
      feed!.write(Buffer.alloc(16_384))
      given += 16_384
      if (!feed!.flush()) return
    }
    feed!.end(null)
  }
  const body: Source = {
    length: size,
    pipe: (sink) => {
      feed = sink
      sink.source = body
      give()
    },
    resume: give,
    cancel: () => {},
  }
  const call = handle()
  connection.send(request({ method: 'POST', body }), call.handler)
  const response = await call.response
  let taken = 0
  const done = Promise.withResolvers<void>()
  response.body.pipe({
    source: null,
    write: (chunk) => {
      taken += chunk.length
    },
    flush: () => {
      setImmediate(() => response.body.resume())
      // The bytes sent and not yet consumed fit the windows and buffers in between.
      assert.ok(given - taken < 2 ** 20)
      return false
    },
    end: () => done.resolve(),
    abort: done.reject,
  })
  await done.promise
  assert.equal(taken, size)
})

test('a cancelled call resets its stream only', async (t) => {
  const closed: number[] = []
  const { port } = await startBackend(t, (stream, fields) => {
    stream.on('close', () => closed.push(stream.rstCode ?? -1))
    if (fields[':path'] === '/b') setImmediate(() => stream.respond({ ':status': 200 }, { endStream: true }))
  })
  const { connection } = await open(t, port)
  const cancelled = handle()
  const other = handle()
  const call = connection.send(request({ target: '/never' }), cancelled.handler)
  await until(() => connection.active === 1)
  connection.send(request({ target: '/b' }), other.handler)
  call.cancel(new Error('client left'))
  assert.equal((await other.response).status, 200)
  await until(() => connection.active === 0 && closed.includes(constants.NGHTTP2_CANCEL))
})

test('a call that is cancelled while its answer is read takes nothing else along', async (t) => {
  const { port } = await startBackend(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.end('unwanted')
  })
  for (const isWhole of [false, true]) {
    const { connection } = await open(t, port)
    const body: Source = {
      length: -1,
      pipe: (sink) => {
        sink.source = body
        // More than the windows of the backend take at once.
        sink.write(Buffer.alloc(isWhole ? 1_000_000 : 1))
        sink.flush()
        if (isWhole) sink.end(HeaderBlock.of([['sum', '42']]))
      },
      resume: () => {},
      cancel: () => {},
    }
    const call = handle()
    const sent = connection.send(request({ method: 'POST', body }), call.handler)
    const { body: answer } = await call.response
    const sink = collector(
      () => assert.fail('whole'),
      () => {},
    )
    answer.pipe({ ...sink, write: () => sent.cancel(new Error('not wanted')), flush: () => true, end: () => {} })
    await until(() => connection.active === 0)
    const next = handle()
    connection.send(request(), next.handler)
    assert.equal((await next.response).status, 200)
  }
})

test('a request body that breaks off does not look whole to the backend', async (t) => {
  const told: string[] = []
  const { port } = await startBackend(t, (stream) => {
    stream.on('data', () => told.push('data'))
    stream.on('end', () => told.push(stream.aborted ? 'cut off' : 'ended'))
    stream.on('close', () => told.push('closed'))
  })
  const { connection } = await open(t, port)
  for (const length of [-1, 10]) {
    let feed: Sink | null = null
    const body: Source = {
      length,
      pipe: (sink) => {
        feed = sink
        sink.source = body
        sink.write(Buffer.from('half'))
        sink.flush()
      },
      resume: () => {},
      cancel: () => {},
    }
    told.length = 0
    connection.send(request({ method: 'POST', body }), handle().handler)
    await until(() => told.includes('data'))
    feed!.abort(new Error('client left'))
    await until(() => told.includes('closed'))
    assert.equal(told.includes('ended'), false, `length ${length}`)
  }
})

test('an answer that comes before the request has ended is whole, and the rest of the request is dropped', async (t) => {
  const backend = await startServer((exchange) => {
    const sink = exchange.respond(413, new HeaderBlock(), exchange.target === '/known' ? 9 : -1)
    sink.write(Buffer.from('too large'))
    sink.end(null)
  })
  t.after(() => backend.close())
  const { connection } = await open(t, backend.port)
  for (const target of ['/known', '/unknown']) {
    let cancelled = 0
    const body: Source = {
      length: -1,
      pipe: (sink) => {
        sink.source = body
        sink.write(Buffer.alloc(100_000))
        sink.flush()
      },
      resume: () => {},
      cancel: () => {
        cancelled++
      },
    }
    const call = handle()
    connection.send(request({ method: 'POST', target, body }), call.handler)
    const response = await call.response
    assert.equal(response.status, 413)
    assert.equal((await read(response.body)).body, 'too large')
    await until(() => connection.active === 0)
    assert.equal(cancelled, 1)
  }
})

test('a refused stream may be sent again, a reset one may not', async (t) => {
  const { port } = await startBackend(t, (stream, fields) => {
    stream.close(fields[':path'] === '/refuse' ? constants.NGHTTP2_REFUSED_STREAM : constants.NGHTTP2_CANCEL)
  })
  const { connection } = await open(t, port)
  for (const [target, unsent] of [
    ['/refuse', true],
    ['/cancel', false],
  ] as const) {
    const call = handle()
    connection.send(request({ target }), call.handler)
    const error = await call.error
    assert.deepEqual([error.code, error.unsent], ['connection_lost', unsent], target)
  }
  assert.equal(connection.available, true)
})

test('a response that breaks off aborts its sink', async (t) => {
  const { port } = await startBackend(t, (stream, fields) => {
    stream.respond({ ':status': 200, 'content-length': 10 })
    stream.write('half', () => {
      if (fields[':path'] === '/reset') stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      else stream.session?.destroy()
    })
  })
  for (const target of ['/reset', '/gone']) {
    const { connection } = await open(t, port)
    const call = handle()
    connection.send(request({ target }), call.handler)
    await assert.rejects(read((await call.response).body))
  }
})

test('after a GOAWAY nothing more is taken and what runs may end', async (t) => {
  let first: ServerHttp2Stream | null = null
  const { port, sessions } = await startBackend(t, (stream) => {
    first = stream
    sessions[0]!.close()
  })
  const { connection, owner } = await open(t, port)
  const call = handle()
  connection.send(request(), call.handler)
  await until(() => !connection.available)
  first!.respond({ ':status': 200 })
  first!.end('done')
  assert.equal((await read((await call.response).body)).body, 'done')
  await until(() => owner.closes === 1)
})

/** Searched in the raw bytes: Huffman coding would make this text longer, so it is sent as it is. */
const MARK = '\xff\xfflast.test\xff\xff\xff\xff\xff\xff'

/** A backend that responds to the first request with the given frames. */
async function rawBackend(t: TestContext, answer: Buffer): Promise<number> {
  const sockets: Socket[] = []
  const server = createTcpServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)))
    let input = ''
    let answered = false
    socket.on('data', (chunk) => {
      input += chunk.toString('latin1')
      if (answered || !input.includes('last.test')) return
      answered = true
      socket.write(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test('calls above the last stream of a GOAWAY were not seen by the backend', async (t) => {
  for (const code of [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_INTERNAL_ERROR]) {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(1, 0)
    payload.writeUInt32BE(code, 4)
    const port = await rawBackend(t, frame(GOAWAY, 0, 0, payload))
    const { connection } = await open(t, port)
    const seen = handle()
    const unseen = handle()
    connection.send(request({ headers: HeaderBlock.of([['x', 'a']]) }), seen.handler)
    connection.send(request({ headers: HeaderBlock.of([['x', MARK]]) }), unseen.handler)
    assert.equal((await unseen.error).unsent, true, `code ${code}`)
    if (code !== constants.NGHTTP2_NO_ERROR) assert.equal((await seen.error).unsent, false)
    assert.equal(connection.available, false)
  }
})

test('a request made as the GOAWAY arrives may be sent again, and does not hang', async (t) => {
  const sockets: Socket[] = []
  const server = createTcpServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1')
    })
  })
  let seen = ''
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const port = (server.address() as AddressInfo).port
  const trigger = connect({ port, host: '127.0.0.1' })
  t.after(() => trigger.destroy())
  await until(() => sockets.length === 1)
  const { connection, owner } = await open(t, port)
  await until(() => sockets.length === 2)
  sockets[1]!.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)))
  await until(() => owner.idles === 1)
  const running = handle()
  connection.send(request({ headers: HeaderBlock.of([['x', MARK]]) }), running.handler)
  await until(() => seen.includes('last.test'))
  const late = handle()
  trigger.once('data', () => {
    assert.equal(connection.available, true)
    connection.send(request(), late.handler)
  })
  // Both arrive before the event loop turns: the request first, then the GOAWAY.
  sockets[0]!.write('go')
  sockets[1]!.write(frame(GOAWAY, 0, 0, Buffer.from('7fffffff00000000', 'hex')))
  assert.equal((await late.error).unsent, true)
  sockets[1]!.write(frame(HEADERS, 5, 1, literalFields([[':status', '200']])))
  assert.equal((await running.response).status, 200)
  await until(() => owner.closes === 1)
})

test('malformed responses are bad responses', async (t) => {
  const head = (fields: [string, string][], flags = 5): Buffer => frame(HEADERS, flags, 1, literalFields(fields))
  const answers: [string, Buffer][] = [
    ['no status', head([['x', '1']])],
    [
      'a connection field',
      head([
        [':status', '200'],
        ['transfer-encoding', 'chunked'],
      ]),
    ],
    [
      'a length without a body',
      head([
        [':status', '200'],
        ['content-length', '5'],
      ]),
    ],
    [
      'a pseudo-header of requests',
      head([
        [':status', '200'],
        [':path', '/'],
      ]),
    ],
    ['101', head([[':status', '101']], 4)],
  ]
  for (const [what, answer] of answers) {
    const port = await rawBackend(t, answer)
    const { connection } = await open(t, port)
    const call = handle()
    connection.send(request({ headers: HeaderBlock.of([['x', MARK]]) }), call.handler)
    const outcome = await Promise.race([call.error.then((error) => error.code), call.response.then(() => 'response')])
    assert.equal(outcome, 'bad_response', what)
  }
})

test('a lost connection fails every call on it', async (t) => {
  const { port, sessions } = await startBackend(t, () => {})
  const { connection, owner } = await open(t, port)
  const calls = [handle(), handle(), handle()]
  for (const call of calls) connection.send(request(), call.handler)
  await until(() => sessions.length === 1)
  await new Promise((resolve) => sessions[0]!.ping(resolve))
  sessions[0]!.destroy()
  for (const call of calls) assert.equal((await call.error).code, 'connection_lost')
  await until(() => owner.closes === 1)
  assert.equal(connection.active, 0)
})

test('the stream limit of the backend is kept, with a stream in reserve where there are several', async (t) => {
  for (const [limit, most] of [
    [1, 1],
    [3, 2],
    [1_000, 100],
  ] as const) {
    const { port } = await startBackend(t, () => {}, { maxConcurrentStreams: limit })
    const { connection, owner } = await open(t, port)
    await until(() => owner.idles > 0)
    for (let calls = 0; calls < most; calls++) {
      assert.equal(connection.available, true, `${calls} of ${limit}`)
      connection.send(request(), handle().handler)
    }
    assert.equal(connection.available, false, String(limit))
  }
})

test('a protocol change is refused at once', async (t) => {
  const { port } = await startBackend(t, () => {})
  const { connection } = await open(t, port)
  const call = handle()
  connection.send(request({ upgrade: 'websocket' }), call.handler)
  const error = await call.error
  assert.deepEqual([error.code, error.unsent, connection.active], ['bad_response', true, 0])
})

test('close lets calls end and then closes', async (t) => {
  const { port } = await startBackend(t, (stream) => {
    setImmediate(() => {
      stream.respond({ ':status': 200 })
      stream.end('done')
    })
  })
  const { connection, owner } = await open(t, port)
  const call = handle()
  connection.send(request(), call.handler)
  connection.close()
  assert.equal(connection.available, false)
  assert.equal((await read((await call.response).body)).body, 'done')
  await until(() => owner.closes === 1)
})

test('a gRPC conversation passes from a client over both engines to a backend and back', async (t) => {
  const { port } = await startBackend(t, (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'fine' }))
    stream.on('data', (chunk) => stream.write('echo ' + String(chunk)))
    stream.on('end', () => stream.end('bye'))
  })
  const { connection } = await open(t, port)
  const server = await startServer((exchange) => forward(exchange, connection))
  const client = connectHttp2(`http://127.0.0.1:${server.port}`)
  t.after(async () => {
    client.destroy()
    await server.close()
  })
  const stream = client.request({ ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' })
  for (const word of ['one', 'two', 'three']) {
    stream.write(word)
    const [chunk] = await once(stream, 'data')
    assert.equal(String(chunk), 'echo ' + word)
  }
  stream.end()
  const [[last], [trailers]] = await Promise.all([once(stream, 'data'), once(stream, 'trailers')])
  assert.equal(String(last), 'bye')
  assert.deepEqual([trailers['grpc-status'], trailers['grpc-message']], ['0', 'fine'])
  await until(() => connection.active === 0)
  assert.equal(connection.available, true)
})

test('a client that leaves a conversation cancels it at the backend', async (t) => {
  const codes: number[] = []
  const { port } = await startBackend(t, (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    stream.write('first')
    stream.on('close', () => codes.push(stream.rstCode ?? -1))
  })
  const { connection } = await open(t, port)
  const server = await startServer((exchange) => forward(exchange, connection))
  const client = connectHttp2(`http://127.0.0.1:${server.port}`)
  t.after(async () => {
    client.destroy()
    await server.close()
  })
  const stream = client.request({ ':method': 'POST', 'content-type': 'application/grpc' })
  stream.on('error', () => {})
  await once(stream, 'data')
  stream.close(constants.NGHTTP2_CANCEL)
  await until(() => codes.length === 1)
  assert.equal(codes[0], constants.NGHTTP2_CANCEL)
})

/** A minimal proxy. */
function forward(exchange: Exchange, connection: Http2Connection): void {
  const call = connection.send(
    request({
      method: exchange.method,
      target: exchange.target,
      headers: exchange.headers,
      body: exchange.body,
      teTrailers: exchange.teTrailers,
    }),
    {
      informed: (status, headers) => exchange.inform(status, headers),
      responded: (response) =>
        response.body.pipe(exchange.respond(response.status, response.headers, response.body.length)),
      upgraded: () => {},
      failed: (error) => exchange.reset(error),
    },
  )
  exchange.observer = { sent: () => {}, gone: (cause) => call.cancel(cause) }
}
