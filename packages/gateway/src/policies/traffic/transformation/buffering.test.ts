import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { exchangeRaw, request, sendRaw } from '../../../testing/client.ts'
import { RawClient } from '../../../testing/http/http1-server.ts'
import { httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'

/** Bodies of up to 1024 bytes may be kept. */
const frontend = { http: { maxBufferSize: 1024 } }
const readsRequest = { transformation: { request: { set: [{ name: 'x-size', value: 'size(request.body)' }] } } }
const readsResponse = { transformation: { response: { set: [{ name: 'x-size', value: 'size(response.body)' }] } } }
const readsPrefixes = {
  transformation: {
    request: { set: [{ name: 'x-size', value: 'size(request.bodyPrefix)' }] },
    response: { set: [{ name: 'x-size', value: 'size(response.bodyPrefix)' }] },
  },
}
const CHUNKED = 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n'

function chunk(bytes: string): string {
  return `${bytes.length.toString(16)}\r\n${bytes}\r\n`
}

async function useRaw(t: TestContext, port: number): Promise<RawClient> {
  const client = new RawClient(port)
  t.after(() => client.socket.destroy())
  return client
}

test('a policy buffers 2 MiB where the config names no limit', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, readsRequest)]))
  const limit = 2 * 1024 * 1024
  const send = (size: number) => request(gateway.port(), { method: 'POST', body: 'x'.repeat(size) })
  assert.deepEqual([(await send(limit)).status, (await send(limit + 1)).status], [200, 413])
  assert.equal(origin.seen[0]?.headers['x-size'], String(limit))
})

// Routes that wait for a body.

test('a route that reads a body waits for all of it; its neighbours let theirs flow', async (t) => {
  const received: string[] = []
  const origin = await useTcpServer(t, (socket) => {
    const index = received.push('') - 1
    socket.setEncoding('latin1').on('data', (text) => {
      received[index] = received[index]! + text
      if (received[index].endsWith('last')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
  })
  const routes = [routeTo(origin, readsRequest, pathPrefix('/read')), routeTo(origin, {}, pathPrefix('/flow'))]
  const gateway = await useGateway(t, httpConfig(routes))
  const post = (path: string): string => `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nfirst`
  const reading = await useRaw(t, gateway.port())
  reading.send(post('/read'))
  const flowing = await useRaw(t, gateway.port())
  flowing.send(post('/flow'))
  await until(() => received.some((text) => text.endsWith('first')))
  assert.equal(received.length, 1)
  assert.match(received[0]!, /^POST \/flow /)
  flowing.send('last')
  await flowing.until('200 OK')
  assert.equal(received.length, 1)
  reading.send('last')
  await reading.until('200 OK')
  assert.match(received[1]!, /^POST \/read [^]*x-size: 9\r\n[^]*firstlast$/)
})

test('a response is read whole before anything of it is sent, on that route only', async (t) => {
  const finish: Record<string, () => void> = {}
  const origin = await useOrigin(t, ({ url }, response) => {
    response.write('first')
    finish[url] = () => response.end('last')
  })
  const routes = [routeTo(origin, readsResponse, pathPrefix('/read')), routeTo(origin, {}, pathPrefix('/flow'))]
  const gateway = await useGateway(t, httpConfig(routes))
  const reading = await useRaw(t, gateway.port())
  reading.send('GET /read HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => origin.seen.length === 1)
  const flowing = await useRaw(t, gateway.port())
  flowing.send('GET /flow HTTP/1.1\r\nhost: a\r\n\r\n')
  await flowing.until('first')
  assert.equal(reading.received, '')
  finish['/flow']!()
  await flowing.until('last')
  assert.equal(reading.received, '')
  finish['/read']!()
  await reading.until(/x-size: 9\r\n[^]*firstlast$/)
})

test('100-continue is answered when the body is asked for, and not passed on', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, readsRequest)]))
  const client = await useRaw(t, gateway.port())
  client.send('POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n')
  await client.until('HTTP/1.1 100 Continue\r\n\r\n')
  assert.equal(origin.seen.length, 0)
  client.send('hello')
  await client.until('200 OK')
  assert.equal(origin.seen[0]!.headers.expect, undefined)
  assert.equal(origin.seen[0]!.body, 'hello')
})

// Limits.

test('a request body beyond the limit is answered 413, announced or not', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, readsRequest)], { frontend }))
  const body = 'x'.repeat(1025)
  const announced = await request(gateway.port(), { method: 'POST', body })
  const chunked = await sendRaw(gateway.port(), `${CHUNKED}\r\n${chunk(body)}0\r\n\r\n`)
  for (const response of [announced, chunked]) {
    assert.equal(response.status, 413)
    assert.equal(response.body, 'request body too large to buffer')
  }
  assert.equal(origin.seen.length, 0)
  assert.equal((await request(gateway.port(), { method: 'POST', body: 'x'.repeat(1024) })).status, 200)
  assert.equal(origin.seen[0]!.headers['x-size'], '1024')
  await gateway.finished(3)
  assert.deepEqual(
    gateway.records.map(({ reason, error }) => [reason, error]),
    [
      ['InvalidRequest', 'request body too large to buffer'],
      ['InvalidRequest', 'request body too large to buffer'],
      ['Upstream', null],
    ],
  )
})

test('a body that is announced too large is not even asked for', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, readsRequest)], { frontend }))
  const head = 'POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 1000000\r\n\r\n'
  const text = await exchangeRaw(gateway.port(), head, () => false)
  assert.match(text, /^HTTP\/1.1 413 /)
})

test('an endless upload is cut off at the limit', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, readsRequest)], { frontend }))
  const client = await useRaw(t, gateway.port())
  client.send(`${CHUNKED}\r\n`)
  const feeding = setInterval(() => client.socket.writable && client.send(chunk('x'.repeat(500))), 1)
  t.after(() => clearInterval(feeding))
  assert.match(await client.all(), /^HTTP\/1.1 413 /)
})

test('a response body beyond the limit becomes 502, announced or not', async (t) => {
  for (const chunked of [true, false]) {
    const origin = await useOrigin(t, (_seen, response) => {
      if (chunked) response.write('x'.repeat(600))
      response.end('x'.repeat(chunked ? 600 : 1200))
    })
    const gateway = await useGateway(t, httpConfig([routeTo(origin, readsResponse)], { frontend }))
    const { status, body } = await request(gateway.port())
    assert.equal(status, 502)
    assert.equal(body, 'response body too large to buffer')
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.reason, 'UpstreamFailure')
    const grpc = await request(gateway.port(), { headers: { 'content-type': 'application/grpc' } })
    assert.equal(grpc.status, 200)
    assert.equal(grpc.headers['grpc-status'], '14')
  }
})

test('a prefix never refuses: expressions see the start, everything passes', async (t) => {
  const large = 'abcdefgh'.repeat(20_000)
  const origin = await useOrigin(t, (seen, response) => response.end(seen.body))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, readsPrefixes)], { frontend }))
  for (const [body, size] of [
    [large, '1024'],
    ['x'.repeat(1024), '1024'],
    ['short', '5'],
  ] as const) {
    const plain = await request(gateway.port(), { method: 'POST', body })
    const pieces = body
      .match(/[^]{1,3000}/g)!
      .map(chunk)
      .join('')
    const chunked = await sendRaw(gateway.port(), `${CHUNKED}connection: close\r\n\r\n${pieces}0\r\n\r\n`)
    for (const response of [plain, chunked]) {
      assert.equal(response.body, body)
      assert.equal(response.headers['x-size'], size)
    }
    for (const seen of origin.seen.splice(0)) {
      assert.equal(seen.headers['x-size'], size)
      assert.equal(seen.body, body)
    }
  }
})

// Broken messages.

test('a client that leaves while its body is read is gone: no backend hears of it', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, readsRequest)]))
  const client = await useRaw(t, gateway.port())
  client.send('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nfirst')
  await until(() => gateway.connectionCount() === 1)
  client.socket.destroy()
  await gateway.finished(1)
  const { reason, error, status } = gateway.records[0]!
  assert.deepEqual([reason, status], ['ClientGone', 0])
  assert.match(error!, /^client closed the connection/)
  assert.equal(origin.seen.length, 0)
  assert.deepEqual(gateway.bugs, [])
})

test('a request body that is not well framed is refused while it is read', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, readsRequest)]))
  const { status } = await sendRaw(gateway.port(), `${CHUNKED}\r\n5\r\nhello\r\nzz\r\n`)
  assert.equal(status, 400)
  assert.equal(origin.seen.length, 0)
  assert.deepEqual(gateway.bugs, [])
})

test('a response that breaks off while it is read is an error of its own, not half a body', async (t) => {
  for (const policies of [readsResponse, readsPrefixes]) {
    const heads = [
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfirst',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n',
    ]
    for (const head of heads) {
      const origin = await useTcpServer(t, (socket) => socket.once('data', () => socket.end(head)))
      const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
      const { status, body } = await request(gateway.port())
      assert.equal(status, 503)
      assert.equal(body, 'upstream call failed: connection closed inside the response')
      await gateway.finished(1)
      assert.equal(gateway.records[0]!.reason, 'UpstreamFailure')
    }
  }
})

test('a response that does not end in time is answered 504', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.write('first'))
  const policies = { ...readsResponse, timeouts: { request: '100ms' } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const { status, body, headers } = await request(gateway.port())
  assert.equal(status, 504)
  assert.equal(body, 'request timeout')
  // The reply of the gateway is a response like any other.
  assert.equal(headers['x-size'], '15')
})

// Bodies that nobody reads any more.

test('the next request is found behind a body that was replaced unread', async (t) => {
  const origin = await useOrigin(t, (seen, response) => response.end(`${seen.method} ${seen.body}`))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { transformation: { request: { body: '"new"' } } })]))
  const smuggled = 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n'
  const bodies = [
    `content-length: ${smuggled.length}\r\n\r\n${smuggled}`,
    `transfer-encoding: chunked\r\n\r\n${chunk(smuggled)}0\r\n\r\n`,
    `content-length: 100000\r\n\r\n${smuggled.repeat(3000).slice(0, 100_000)}`,
    `expect: 100-continue\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`,
  ]
  for (const body of bodies) {
    origin.seen.length = 0
    const post = `POST /first HTTP/1.1\r\nhost: a\r\n${body}`
    const text = await exchangeRaw(
      gateway.port(),
      `${post}GET /last HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
      () => false,
    )
    const urls = origin.seen.map(({ url }) => url)
    // A body that is too long to drop ends the connection; no part of it is ever parsed as a request.
    assert.ok(urls.join() === '/first' || urls.join() === '/first,/last', urls.join())
    assert.equal(text.split('HTTP/1.1 200').length - 1, urls.length)
    assert.ok(text.includes('POST new'))
    if (urls.length === 1) assert.match(text, /connection: close/)
  }
})

test('an upload that is replaced behind its prefix does not hold the answer up', async (t) => {
  const origin = await useOrigin(t, (seen, response) => response.end(seen.body))
  const transformation = { request: { body: 'string(size(request.bodyPrefix))' } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { transformation })], { frontend }))
  const client = await useRaw(t, gateway.port())
  client.send(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(2000)}`)
  await client.until(/200 OK[^]*1024$/)
})

test('a response that is replaced unread lets the backend go', async (t) => {
  const closed = Promise.withResolvers<void>()
  const origin = await useTcpServer(t, (socket) => {
    socket.on('close', () => closed.resolve())
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nfirst'))
  })
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, { transformation: { response: { body: '"new"' } } })]),
  )
  const { body, headers } = await request(gateway.port())
  assert.equal(body, 'new')
  assert.equal(headers['content-length'], '3')
  await closed.promise
})

test('a mirror gets the new body', async (t) => {
  const origin = await useOrigin(t)
  const mirror = await useOrigin(t)
  const policies = {
    transformation: { request: { body: '"<" + string(request.body) + ">"' } },
    requestMirror: { backend: mirror.host },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  await request(gateway.port(), { method: 'POST', body: 'hello' })
  await until(() => mirror.seen.length === 1)
  assert.equal(origin.seen[0]!.body, '<hello>')
  assert.equal(mirror.seen[0]!.body, '<hello>')
})

// Other protocols.

test('a WebSocket passes untouched, whatever is done to bodies', async (t) => {
  const origin = await useOrigin(t)
  const server = new WebSocketServer({ server: origin.server })
  server.on('connection', (socket, message) => {
    socket.on('message', () => socket.send(String(message.headers['x-size'])))
  })
  const transformation = {
    request: { body: '"new"', set: [{ name: 'x-size', value: 'size(request.body)' }] },
    response: { body: '"new"', set: [{ name: ':status', value: '500' }] },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { transformation })]))
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port()}/`)
  await once(client, 'open')
  client.send('hi')
  const [data] = (await once(client, 'message')) as [Buffer]
  assert.equal(data.toString(), '0')
  client.close()
  await once(client, 'close')
})

test('HTTP/2 clients: bodies with and without a length, limits, no bodies', async (t) => {
  const origin = await useOrigin(t, (seen, response) => response.end(seen.body))
  const transformation = {
    request: { body: '"<" + string(request.body) + ">"' },
    response: { body: '"[" + string(response.body) + "]"' },
  }
  const backend = { http: { version: 'HTTP1' } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { transformation, backend })], { frontend }))
  const session = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
  t.after(() => session.destroy())
  const send = async (headers: Record<string, string>, body: string): Promise<[number, string, string | undefined]> => {
    const stream = session.request({ ':method': 'POST', ...headers }, { endStream: body === '' })
    if (body !== '') stream.end(body)
    let text = ''
    const [fields] = (await once(stream, 'response')) as [Record<string, string | number>]
    for await (const part of stream) text += String(part)
    return [Number(fields[':status']), text, fields['content-length'] as string | undefined]
  }
  assert.deepEqual(await send({ 'content-length': '5' }, 'hello'), [200, '[<hello>]', '9'])
  assert.deepEqual(await send({}, 'hello'), [200, '[<hello>]', '9'])
  assert.deepEqual(await send({}, ''), [200, '[<>]', '4'])
  assert.deepEqual(await send({ ':method': 'HEAD' }, ''), [200, '', undefined])
  assert.equal((await send({}, 'x'.repeat(1025)))[0], 413)
  assert.equal((await send({ 'content-length': '2000' }, 'x'.repeat(2000)))[0], 413)
  assert.deepEqual(
    origin.seen.map(({ body }) => body),
    ['<hello>', '<hello>', '<>', '<>'],
  )
})

test('HTTP/2 clients: a status or method that changes whether there is a body changes the framing with it', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.writeHead(304, { 'content-length': '5' }).end())
  const transformations = [
    { response: { set: [{ name: ':status', value: '200' }] } },
    {
      request: { set: [{ name: ':method', value: '"HEAD"' }] },
      response: { set: [{ name: ':status', value: '200' }] },
    },
  ]
  for (const transformation of transformations) {
    const policies = { transformation, backend: { http: { version: 'HTTP1' } } }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
    const session = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
    t.after(() => session.destroy())
    const stream = session.request({ ':method': 'GET' })
    const [fields] = (await once(stream, 'response')) as [Record<string, string | number>]
    assert.equal(fields[':status'], 200)
    assert.equal(fields['content-length'], '0')
    stream.resume()
    await once(stream, 'end')
    assert.equal(stream.rstCode, 0)
  }
})

test('gRPC: messages can be read and replaced, and the status in the trailers stays', async (t) => {
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, 3]), Buffer.from('abc')])
  const server = createHttp2Server()
  const received: Buffer[] = []
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('data', (part: Buffer) => received.push(part))
    stream.on('end', () => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '7' }))
      stream.end(message)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const backend = { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
  const transformation = {
    request: { body: 'request.body', set: [{ name: 'x-size', value: 'size(request.body)' }] },
    response: { body: 'b"\\x00\\x00\\x00\\x00\\x01" + b"z"', set: [{ name: 'x-size', value: 'size(response.body)' }] },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { transformation })]))
  const session = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
  t.after(() => session.destroy())
  const stream = session.request({ ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' })
  const parts: Buffer[] = []
  let trailers: Record<string, unknown> = {}
  stream.on('trailers', (fields) => (trailers = fields))
  stream.end(message)
  const [fields] = (await once(stream, 'response')) as [Record<string, string>]
  for await (const part of stream) parts.push(part as Buffer)
  assert.ok(Buffer.concat(received).equals(message))
  assert.equal(fields['x-size'], '8')
  assert.equal(Buffer.concat(parts).toString('latin1'), '\0\0\0\0\x01z')
  assert.equal(trailers['grpc-status'], '7')
})
