import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeTime } from '../../../../gateway/src/testing/fake-time.ts'
import { answer, eventually, RawClient, startHttp1Server } from '../../../../gateway/src/testing/http/http1-server.ts'
import type { Exchange } from '../../exchange/exchange.ts'

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
/** Milliseconds. */
const IDLE = 60_000

test('a client that waits for its response stays, however long the response takes', async (t) => {
  const time = new FakeTime()
  t.after(() => time.deadlines.close())
  const exchanges: Exchange[] = []
  await using server = await startHttp1Server((exchange) => exchanges.push(exchange), {
    deadlines: time.deadlines,
    idleTimeoutMs: IDLE,
  })
  using client = new RawClient(server.port)
  client.send(GET)
  await eventually(() => exchanges.length === 1, 'the request')
  for (let passed = 0; passed < 5; passed++) await time.advance(IDLE + 1_000)
  const [exchange] = exchanges
  assert.ok(exchange !== undefined)
  answer(exchange, 200, 'late')
  await client.until('late')
  assert.equal(server.connections.size, 1)
})

test('a client whose body is held back here stays, however long the consumer takes', async (t) => {
  const time = new FakeTime()
  t.after(() => time.deadlines.close())
  let hasRoom = false
  const exchanges: Exchange[] = []
  const handler = (exchange: Exchange): void => {
    exchanges.push(exchange)
    exchange.body.pipe({
      source: null,
      write: () => {},
      flush: () => hasRoom,
      end: () => answer(exchange, 200, `${exchange.bytesIn} bytes`),
      abort: () => {},
    })
  }
  await using server = await startHttp1Server(handler, { deadlines: time.deadlines, idleTimeoutMs: IDLE })
  using client = new RawClient(server.port)
  client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nhalf')
  await eventually(() => exchanges[0]?.bytesIn === 4, 'the first half')
  for (let passed = 0; passed < 5; passed++) await time.advance(IDLE + 1_000)
  assert.equal(server.connections.size, 1)
  hasRoom = true
  exchanges[0]?.body.resume()
  client.send('rest')
  await client.until('8 bytes')
})

test('a client that leaves inside a head is let go at once', async () => {
  await using server = await startHttp1Server(() => assert.fail('no request is whole'))
  using client = new RawClient(server.port)
  client.socket.end('GET / HTTP/1.1\r\nHost')
  assert.equal(await client.all(), '')
  await eventually(() => server.connections.size === 0, 'the end of the connection')
  assert.deepEqual(server.refused, [])
})
