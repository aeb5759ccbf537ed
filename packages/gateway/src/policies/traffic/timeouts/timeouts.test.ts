import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchangeRaw, request } from '../../../testing/client.ts'
import { FakeTime } from '../../../testing/fake-time.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

test('a backend that does not answer in time gives 504, and the call is cancelled', async (t) => {
  let closed = false
  const origin = await useOrigin(t, (_request, response) => response.on('close', () => (closed = true)))
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { timeouts: { request: '400ms' } })]))
  const { status, body } = await request(gateway.port())
  assert.equal(status, 504)
  assert.equal(body, 'request timeout')
  await until(() => closed)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'Timeout')
})

test('a response that takes too long is cut, and cannot be taken for a whole one', async (t) => {
  const origin = await useOrigin(t, (_request, response) => {
    response.writeHead(200)
    response.write('begin')
  })
  const time = new FakeTime()
  const config = httpConfig([routeTo(origin, { timeouts: { request: '400ms' } })])
  const gateway = await useGateway(t, config, { deadlines: time.deadlines })
  const text = await exchangeRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', (received) => {
    if (received.includes('begin')) void time.advance(1_000)
    return false
  })
  assert.match(text, /^HTTP\/1.1 200 [^]*begin\r\n$/)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'Timeout')
  assert.equal(gateway.records[0]!.error, 'request timeout')
})

test('a request in time leaves nothing behind that could cut the next one', async (t) => {
  const time = new FakeTime()
  const origin = await useOrigin(t, (seen, response) => {
    if (seen.url === '/slow') void time.advance(1_000).then(() => response.end('slow'))
    else response.end('fast')
  })
  const limited = { ...routeTo(origin, { timeouts: { request: '400ms' } }), matches: [{ path: { exact: '/fast' } }] }
  const gateway = await useGateway(t, httpConfig([limited, routeTo(origin)]), { deadlines: time.deadlines })
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`
  const text = await exchangeRaw(gateway.port(), ask('/fast') + ask('/slow'), (received) => received.endsWith('slow'))
  assert.equal(text.match(/HTTP\/1.1 200/g)?.length, 2)
})

test('the limit counts over all tries', async (t) => {
  const origin = await useOrigin(t, (_request, response) => response.writeHead(503).end())
  const policies = { timeouts: { request: '400ms' }, retry: { attempts: 200, backoff: '60ms', codes: [503] } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const { status } = await request(gateway.port())
  assert.equal(status, 504)
  const tries = origin.seen.length
  assert.ok(tries >= 1 && tries < 10, `${tries} tries`)
  const later = await useOrigin(t)
  await request(later.port)
  assert.equal(origin.seen.length, tries)
})

test('a connection that was upgraded is not cut', async (t) => {
  const time = new FakeTime()
  const origin = await useOrigin(t)
  origin.server.on('upgrade', (_message, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    socket.once('data', () => void time.advance(1_000).then(() => socket.end('late answer')))
  })
  const config = httpConfig([routeTo(origin, { timeouts: { request: '400ms' } })])
  const gateway = await useGateway(t, config, { deadlines: time.deadlines })
  const head = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
  const text = await exchangeRaw(gateway.port(), `${head}hello`, (received) => received.endsWith('late answer'))
  assert.match(text, /^HTTP\/1.1 101 [^]*late answer$/)
})

test('an upload that stalls is answered with 504', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { timeouts: { request: '60ms' } })]))
  const text = await exchangeRaw(
    gateway.port(),
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf',
    (received) => received.includes('request timeout'),
  )
  assert.match(text, /^HTTP\/1.1 504 /)
})
