import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { exchangeRaw, request } from '../../../testing/client.ts'
import { FakeTime } from '../../../testing/fake-time.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'

/** Answers 503 the given number of times, then 200. */
function failing(times: number) {
  let left = times
  return (_request: unknown, response: { writeHead(status: number): { end(body: string): void } }) =>
    response.writeHead(left-- > 0 ? 503 : 200).end(left < 0 ? 'done' : 'busy')
}

test('a listed status is tried again, and each retry says its number', async (t) => {
  const origin = await useOrigin(t, failing(2))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { retry: { attempts: 3, codes: [503] } })]))
  const { status, body } = await request(gateway.port())
  assert.equal(status, 200)
  assert.equal(body, 'done')
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers['x-retry-attempt']),
    [undefined, '1', '2'],
  )
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.retryAttempt, 2)
})

test('after the last attempt the client gets what the backend said', async (t) => {
  const origin = await useOrigin(t, failing(9))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { retry: { attempts: 2, codes: [503] } })]))
  const { status, body } = await request(gateway.port())
  assert.equal(status, 503)
  assert.equal(body, 'busy')
  assert.equal(origin.seen.length, 3)
})

test('other statuses are not tried again', async (t) => {
  const origin = await useOrigin(t, failing(9))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { retry: { attempts: 2, codes: [502] } })]))
  assert.equal((await request(gateway.port())).status, 503)
  assert.equal(origin.seen.length, 1)
})

test('a refused connection is tried again, whatever the method', async (t) => {
  const port = await closedPort()
  const backend = { host: `127.0.0.1:${port}` }
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { retry: { attempts: 2 } })]))
  const { status, body } = await request(gateway.port(), { method: 'POST', body: 'x' })
  assert.equal(status, 503)
  assert.match(body, /^upstream call failed: ECONNREFUSED/)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.retryAttempt, 2)
})

test('a small body is sent again', async (t) => {
  const origin = await useOrigin(t, failing(1))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { retry: { codes: [503] } })]))
  const body = 'x'.repeat(65_536)
  assert.equal((await request(gateway.port(), { method: 'POST', body })).status, 200)
  assert.deepEqual(
    origin.seen.map((seen) => seen.body.length),
    [65_536, 65_536],
  )
})

test('a chunked body is sent again', async (t) => {
  const origin = await useOrigin(t, failing(1))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { retry: { codes: [503] } })]))
  const head = 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n'
  const text = await exchangeRaw(gateway.port(), `${head}5\r\nhello\r\n0\r\n\r\n`, (received) =>
    received.includes('done'),
  )
  assert.match(text, /^HTTP\/1.1 200/)
  assert.deepEqual(
    origin.seen.map((seen) => seen.body),
    ['hello', 'hello'],
  )
})

test('a body over 64 KiB is not sent again', async (t) => {
  const origin = await useOrigin(t, failing(1))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { retry: { codes: [503] } })]))
  assert.equal((await request(gateway.port(), { method: 'POST', body: 'x'.repeat(65_537) })).status, 503)
  assert.equal(origin.seen.length, 1)
})

test('a lost connection is tried again only where sending twice does no harm', async (t) => {
  let calls = 0
  const backend = await useTcpServer(t, (socket) => {
    calls++
    socket.once('data', () => socket.destroy())
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { retry: { attempts: 1 } })]))
  assert.equal((await request(gateway.port(), { method: 'POST', body: 'x' })).status, 503)
  assert.equal(calls, 1)
  assert.equal((await request(gateway.port(), { method: 'PUT', body: 'x' })).status, 503)
  assert.equal(calls, 3)
})

test('an answer that comes before the body ends is retried with the whole body', async (t) => {
  let connections = 0
  const backend = await useTcpServer(t, (socket) => {
    let received = ''
    const isFirst = ++connections === 1
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString()
      if (isFirst && received.includes('first')) socket.write('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n')
      if (!isFirst && received.endsWith('firstlast')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone')
    })
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { retry: { codes: [503] } })]))
  const client = connect(gateway.port(), '127.0.0.1')
  t.after(() => client.destroy())
  client.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nfirst')
  await until(() => connections === 2)
  client.write('last')
  let text = ''
  for await (const chunk of client) {
    text += String(chunk)
    if (text.includes('done')) break
  }
  assert.match(text, /^HTTP\/1.1 200/)
})

test('retries wait for the backoff', async (t) => {
  const times: number[] = []
  const answer = failing(2)
  const origin = await useOrigin(t, (seen, response) => {
    times.push(performance.now())
    answer(seen, response)
  })
  const retry = { attempts: 2, backoff: '60ms', codes: [503] }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { retry })]))
  assert.equal((await request(gateway.port())).status, 200)
  assert.ok(times[1]! - times[0]! >= 55, `${times[1]! - times[0]!} ms`)
  assert.ok(times[2]! - times[1]! >= 55, `${times[2]! - times[1]!} ms`)
})

test('a client that leaves during the backoff ends the tries', async (t) => {
  const origin = await useOrigin(t, ({ url }, response) => response.writeHead(url === '/' ? 503 : 200).end())
  const retry = { attempts: 9, backoff: '100ms', codes: [503] }
  const time = new FakeTime()
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { retry })]), { deadlines: time.deadlines })
  const client = connect(gateway.port(), '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(() => origin.seen.length > 0)
  client.resetAndDestroy()
  await gateway.finished(1)
  await time.advance(1_000)
  // A later request is served later.
  await request(gateway.port(), { path: '/later' })
  assert.deepEqual(
    origin.seen.map(({ url }) => url),
    ['/', '/later'],
  )
  assert.equal(gateway.records[0]!.reason, 'ClientGone')
})

test('a failed try with a body that is still arriving leaves no half of it for the next request', async (t) => {
  const port = await closedPort()
  const backend = { host: `127.0.0.1:${port}` }
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { retry: { attempts: 1 } })]))
  const text = await exchangeRaw(
    gateway.port(),
    `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 40000\r\n\r\n${'x'.repeat(40_000)}GET / HTTP/1.1\r\nhost: a\r\n\r\n`,
    (received) => received.split('ECONNREFUSED').length === 3,
  )
  assert.deepEqual(text.match(/HTTP\/1.1 [0-9]+/g), ['HTTP/1.1 503', 'HTTP/1.1 503'])
})
