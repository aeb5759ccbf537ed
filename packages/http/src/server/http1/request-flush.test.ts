import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer, eventually, RawClient, startHttp1Server } from '../../../../gateway/src/testing/http/http1-server.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { ConnectionInfo } from '../../exchange/exchange.ts'
import { INFO } from '../../testing/http2-server.ts'
import { MessageHead, parseRequestHead } from '../../http1/head.ts'
import { type ExchangeHost, Http1Exchange } from './server-exchange.ts'

/** A request of 100,000 bytes whose sink counts the times that it was flushed. */
function useUpload(scheme: ConnectionInfo['scheme']) {
  const head = parseRequestHead('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n', {
    maxHeaders: 10,
    maxTarget: 100,
  })
  assert.ok(head instanceof MessageHead)
  const unused = (): never => assert.fail('no response is sent')
  const host = { info: { ...INFO, scheme }, closing: false, wantInput: () => {}, responseDone: unused }
  const exchange = new Http1Exchange(host as Partial<ExchangeHost> as ExchangeHost, head, 'a', '/')
  const seen = { bytes: 0, flushes: 0, isFull: false }
  exchange.pipe({
    source: null,
    write: (chunk) => (seen.bytes += chunk.length),
    flush: () => {
      seen.flushes++
      return !seen.isFull
    },
    end: () => {},
    abort: unused,
  })
  const feed = (length: number): number => exchange.feed(Buffer.alloc(length), 0)
  return { exchange, seen, feed }
}

test('a part of a body is passed on at once, unless it is large and came over TLS', async () => {
  for (const [scheme, length, flushes] of [
    ['http', 10, 2],
    ['http', 8_192, 2],
    ['https', 10, 2],
    ['https', 8_191, 2],
    ['https', 8_192, 0],
  ] as const) {
    const { seen, feed } = useUpload(scheme)
    feed(length)
    feed(length)
    assert.deepEqual([seen.bytes, seen.flushes], [2 * length, flushes], `${scheme} ${length}`)
  }
})

test('large parts of one turn over TLS are passed on together, at its end', async () => {
  const { exchange, seen, feed } = useUpload('https')
  feed(16_384)
  feed(16_384)
  await new Promise(setImmediate)
  assert.deepEqual([seen.bytes, seen.flushes], [32_768, 1])
  feed(16_384)
  await new Promise(setImmediate)
  assert.equal(seen.flushes, 2)
  seen.isFull = true
  feed(16_384)
  assert.equal(exchange.readable, true)
  await new Promise(setImmediate)
  assert.deepEqual([seen.flushes, exchange.readable], [3, false])
  exchange.resume()
  assert.equal(exchange.readable, true)
})

test('bytes behind the end of a body are left to the next request', () => {
  const { exchange, seen, feed } = useUpload('http')
  assert.equal(feed(60_000), 60_000)
  assert.equal(feed(60_000), 40_000)
  assert.deepEqual([seen.bytes, exchange.bytesIn, exchange.requestDone], [100_000, 100_000, true])
})

test('a body that nobody wants any more is read to its end, before there is a response', async () => {
  const size = 1_000_000
  const exchanges: Exchange[] = []
  await using server = await startHttp1Server((exchange) => {
    exchanges.push(exchange)
    exchange.body.pipe({
      source: null,
      write: () => {},
      flush: () => false,
      end: () => assert.fail('nobody wants it'),
      abort: () => assert.fail('nobody wants it'),
    })
  })
  using client = new RawClient(server.port)
  client.send(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${size}\r\n\r\n`)
  client.send(Buffer.alloc(size))
  await eventually(() => (exchanges[0]?.bytesIn ?? 0) > 0, 'the first part')
  const [exchange] = exchanges
  assert.ok(exchange !== undefined && exchange.bytesIn < size)
  exchange.body.cancel(new Error('enough'))
  await eventually(() => exchange.bytesIn === size, 'the rest')
  answer(exchange, 200, 'whole')
  assert.match(await client.until('whole'), /^HTTP\/1\.1 200 /)
})
