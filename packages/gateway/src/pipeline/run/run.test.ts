import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { exchangeRaw, request, sendRaw } from '../../testing/client.ts'
import { httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../testing/scene.ts'

const setting = (name: string, value: string) => ({ request: { set: [{ name, value }] } })

test('policies of listener and route merge field by field, and the route wins whole', async (t) => {
  const origin = await useOrigin(t)
  const listener = {
    policies: {
      headerModifiers: setting('x-listener', '1'),
      hostRewrite: { mode: 'None' },
      cors: { allowOrigins: ['*'] },
    },
  }
  const routes = [
    routeTo(origin, { headerModifiers: setting('x-route', '1') }, pathPrefix('/own')),
    routeTo(origin, {}, pathPrefix('/')),
  ]
  const gateway = await useGateway(t, httpConfig(routes, { listener }))
  const own = await request(gateway.port(), { path: '/own', headers: { origin: 'https://a.test' } })
  await request(gateway.port(), { path: '/other' })
  assert.equal(own.headers['access-control-allow-origin'], 'https://a.test')
  assert.deepEqual([origin.seen[0]!.headers['x-route'], origin.seen[0]!.headers['x-listener']], ['1', undefined])
  assert.deepEqual([origin.seen[1]!.headers['x-route'], origin.seen[1]!.headers['x-listener']], [undefined, '1'])
})

test('weighted backends get their share', async (t) => {
  const [a, b] = [await useOrigin(t), await useOrigin(t)]
  const draws = [0, 0.89, 0.91, 0.99]
  const route = {
    backends: [
      { host: a.host, weight: 9 },
      { host: b.host, weight: 1 },
    ],
  }
  const gateway = await useGateway(t, httpConfig([route]), { random: () => draws.shift()! })
  for (let i = 0; i < 4; i++) await request(gateway.port())
  assert.deepEqual([a.seen.length, b.seen.length], [2, 2])
})

test('a route whose backends all have no weight gives 500', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([{ backends: [{ host: origin.host, weight: 0 }] }]))
  const { status, body, headers } = await request(gateway.port())
  assert.equal(status, 500)
  assert.equal(body, 'no valid backends')
  assert.equal(headers['content-type'], 'text/plain')
})

test('a request is active until its response ends or its client is gone', async (t) => {
  const origin = await useOrigin(t, (_message, response) => void response.write('begun'))
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const active = (): string | undefined => /^portico_requests_active (\d+)$/m.exec(gateway.metrics())?.[1]
  await request(gateway.port(), { headers: { host: '' }, path: '/', method: 'CONNECT' }).catch(() => {})
  assert.equal(active(), '0')
  const [one, other] = [connect(gateway.port(), '127.0.0.1'), connect(gateway.port(), '127.0.0.1')]
  for (const socket of [one, other]) socket.write('GET / HTTP/1.1\r\nhost: a.test\r\n\r\n')
  await until(() => active() === '2')
  one.destroy()
  await until(() => active() === '1')
  other.destroy()
  await until(() => active() === '0')
})

test('a request without a route gets 404', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, {}, pathPrefix('/here'))]))
  const { status, body } = await request(gateway.port(), { path: '/there' })
  assert.equal(status, 404)
  assert.equal(body, 'route not found')
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'NotFound')
})

test('the Host chooses the listener', async (t) => {
  const answer = (body: string) => ({ policies: { directResponse: { status: 200, body } } })
  const gateway = await useGateway(t, {
    binds: [
      {
        port: 0,
        listeners: [
          { name: 'exact', hostname: 'a.test', routes: [answer('exact')] },
          { name: 'wild', hostname: '*.test', routes: [answer('wild')] },
        ],
      },
    ],
  })
  const asked = async (host: string) => (await request(gateway.port(), { headers: { host } })).body
  assert.equal(await asked('A.test:8080'), 'exact')
  assert.equal(await asked('b.test'), 'wild')
  assert.equal(await asked('other.example'), 'listener not found')
})

test('an HTTP/1.0 client gets a whole body and a closed connection, or keeps it when it asks', async (t) => {
  const origin = await useOrigin(t, (seen, response) => {
    if (seen.url === '/chunked') response.write('first ')
    response.end('last')
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const chunked = await exchangeRaw(gateway.port(), 'GET /chunked HTTP/1.0\r\nhost: a\r\n\r\n', () => false)
  assert.match(chunked, /^HTTP\/1\.[01] 200 [^]*connection: close\r\n\r\nfirst last$/)
  assert.doesNotMatch(chunked, /transfer-encoding/)
  const kept = await sendRaw(gateway.port(), 'GET / HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\n\r\n')
  assert.equal(kept.headers.connection, 'keep-alive')
  assert.equal(kept.body, 'last')
})

test('a client that ends its side still gets its answer', async (t) => {
  let answer = (): void => {}
  const origin = await useOrigin(t, ({ url }, response) => {
    if (url === '/later') return response.end()
    answer = () => void response.end('late')
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const client = connect({ port: gateway.port(), host: '127.0.0.1', allowHalfOpen: true })
  client.end('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(client, 'finish')
  await until(() => origin.seen.length === 1)
  // When this later request is served, the gateway has seen that the client closed its sending side.
  await request(gateway.port(), { path: '/later' })
  answer()
  let text = ''
  for await (const chunk of client) text += String(chunk)
  assert.match(text, /^HTTP\/1.1 200 [^]*late$/)
})

test('a gRPC client reads errors as gRPC does', async (t) => {
  const gateway = await useGateway(t, httpConfig([routeTo({ host: '127.0.0.1:1' }, {}, pathPrefix('/svc'))]))
  for (const [path, code, message] of [
    ['/none', '12', 'route%20not%20found'],
    ['/svc', '14', 'upstream%20call%20failed%3A%20'],
  ] as const) {
    const { status, headers, body } = await request(gateway.port(), {
      method: 'POST',
      path,
      headers: { 'content-type': 'application/grpc+proto', te: 'trailers' },
    })
    assert.deepEqual(
      [status, headers['content-type'], headers['grpc-status'], body],
      [200, 'application/grpc', code, ''],
    )
    assert.ok(headers['grpc-message']!.startsWith(message))
  }
  await gateway.finished(2)
  assert.deepEqual(
    gateway.records.map((record) => record.grpcStatus),
    [12, 14],
  )
})

test('a reader that stops bounds what is read from the backend', async (t) => {
  let download = { sent: 0 }
  const backend = await useTcpServer(t, (socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${TOTAL}\r\n\r\n`)
      download = feed(socket)
    })
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const client = connect(gateway.port(), '127.0.0.1').pause()
  t.after(() => client.destroy())
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => download.sent > 0)
  await standstill(download)
  assert.ok(download.sent < MUCH, `${download.sent} bytes left the backend`)
  let received = 0
  client.on('data', (chunk: Buffer) => (received += chunk.length)).resume()
  await until(() => received > TOTAL)
})

test('an upload waits for a backend that reads slowly', async (t) => {
  const backend = await useTcpServer(t, (socket) => socket.pause())
  const gateway = await useGateway(t, httpConfig([routeTo(backend)]))
  const client = connect(gateway.port(), '127.0.0.1')
  t.after(() => client.destroy())
  client.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${TOTAL}\r\n\r\n`)
  const upload = feed(client)
  await standstill(upload)
  assert.ok(upload.sent < MUCH, `${upload.sent} bytes left the client`)
  backend.sockets[0]!.resume()
  await until(() => backend.sockets[0]!.bytesRead >= TOTAL)
})

test('trailers pass both ways', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { trailer: 'x-sum' })
    response.write('body')
    response.addTrailers({ 'x-sum': '7' })
    response.end()
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const head = 'POST / HTTP/1.1\r\nhost: a\r\nte: trailers\r\ntransfer-encoding: chunked\r\n\r\n'
  const text = await exchangeRaw(
    gateway.port(),
    `${head}2\r\nhi\r\n0\r\nx-check: 9\r\n\r\n`,
    (received) => received.endsWith('\r\n\r\n') && received.includes('x-sum: 7'),
  )
  assert.match(text, /4\r\nbody\r\n0\r\nx-sum: 7\r\n\r\n$/)
  assert.deepEqual({ ...origin.seen[0]!.trailers }, { 'x-check': '9' })
})

test('pipelined requests are answered in order', async (t) => {
  const origin = await useOrigin(t, (seen, response) => {
    if (seen.url === '/0') setTimeout(() => response.end('[0]'), 30)
    else response.end(`[${seen.url.slice(1)}]`)
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const asks = [0, 1, 2, 3].map((i) => `GET /${i} HTTP/1.1\r\nhost: a\r\n\r\n`)
  const text = await exchangeRaw(gateway.port(), asks.join(''), (received) => received.endsWith('[3]'))
  assert.deepEqual(text.match(/\[\d\]/g), ['[0]', '[1]', '[2]', '[3]'])
})

test('an unchanged request is passed on as it came', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin)], { frontend: { forwardedHeaders: { mode: 'Preserve' } } }),
  )
  await sendRaw(gateway.port(), 'GET /a?b HTTP/1.1\r\nHost: a.test\r\nX-MiXed: 1\r\nCookie: a=b\r\nx-mixed: 2\r\n\r\n')
  const { rawHeaders, url } = origin.seen[0]!
  assert.equal(url, '/a?b')
  assert.deepEqual(rawHeaders.slice(0, 8), ['host', 'a.test', 'X-MiXed', '1', 'Cookie', 'a=b', 'x-mixed', '2'])
})

const TOTAL = 64 * 1024 * 1024
/** More than the kernel's buffers of two connections and a few reads of the gateway hold. */
const MUCH = 24 * 1024 * 1024

/** Writes as fast as the socket takes it, and counts. */
function feed(socket: Socket): { sent: number } {
  const block = Buffer.alloc(65_536, 1)
  const progress = { sent: 0 }
  const write = (): void => {
    while (progress.sent < TOTAL) {
      progress.sent += block.length
      if (!socket.write(block)) return
    }
  }
  socket.on('drain', write)
  write()
  return progress
}

/** Nothing has moved for a while. */
async function standstill(progress: { sent: number }): Promise<void> {
  for (let before = -1; before !== progress.sent;) {
    before = progress.sent
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

test('a step that waits for the rest of a body when the time is over says nothing into the 504', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => void response.writeHead(200).write('half of'))
  const transformation = { response: { set: [{ name: 'x-size', value: 'size(response.body)' }] } }
  const policies = { transformation, timeouts: { request: '300ms' }, backend: { http: { version: 'HTTP1' } } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  // HTTP/2 has sent an answer some time after it was handed over; until then the request is not over.
  const client = connectHttp2(`http://127.0.0.1:${gateway.port()}`)
  t.after(() => client.destroy())
  for (let i = 1; i <= 2; i++) {
    const stream = client.request({ ':path': '/' })
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
    assert.deepEqual([headers[':status'], headers['x-size']], [504, '15'])
    assert.equal(await text(stream), 'request timeout')
    await gateway.finished(i)
  }
  assert.deepEqual(gateway.bugs, [])
  assert.equal(gateway.lines.length, 2)
  for (const line of gateway.lines) assert.match(line, /http\.status=504 .*reason=Timeout/)
})
