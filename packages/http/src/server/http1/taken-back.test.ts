import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer, eventually, RawClient, startHttp1Server } from '../../../../gateway/src/testing/http/http1-server.ts'
import type { Exchange, ExchangeObserver } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'

const H = 'Host: a\r\n'

/** An observer that responds with 502 in place of a response of which nothing was sent. */
function secondAnswer(exchange: Exchange): ExchangeObserver {
  return {
    sent: () => {},
    gone: () => {},
    unsent: () => (answer(exchange, 502, 'bad'), true),
  }
}

test('a response that breaks before any of it has left gives way to another', async () => {
  for (const [method, version, status, length] of [
    ['GET', '1.1', 200, -1],
    ['GET', '1.1', 200, 10],
    ['GET', '1.1', 204, 0],
    ['GET', '1.0', 200, -1],
  ] as const) {
    let bytesOut = -1
    await using server = await startHttp1Server((exchange) => {
      exchange.observer = secondAnswer(exchange)
      const sink = exchange.respond(status, HeaderBlock.of([['x-first', '1']]), length)
      sink.write(Buffer.from('part'))
      sink.abort(new Error('backend died'))
      bytesOut = exchange.bytesOut
    })
    using client = new RawClient(server.port)
    client.send(`${method} / HTTP/${version}\r\n${H}\r\n`)
    const reply = await client.until(/\r\n\r\nbad$/)
    assert.match(reply, /^HTTP\/1\.1 502 [^]*content-length: 3\r\n/)
    assert.doesNotMatch(reply, /x-first|chunked|part/)
    assert.equal(bytesOut, 3)
  }
})

test('a connection goes on after a response that was replaced', async () => {
  let count = 0
  await using server = await startHttp1Server((exchange) => {
    exchange.observer = secondAnswer(exchange)
    if (++count > 1) return answer(exchange, 200, 'next')
    exchange.respond(200, new HeaderBlock(), -1).abort(new Error('backend died'))
  })
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  await client.until('bad')
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  await client.until('next')
})

test('a response of which something has left is not replaced', async () => {
  let asked = 0
  await using server = await startHttp1Server((exchange) => {
    exchange.observer = { sent: () => {}, gone: () => {}, unsent: () => (asked++, true) }
    const sink = exchange.respond(200, new HeaderBlock(), 10)
    sink.write(Buffer.from('part'))
    sink.flush()
    setImmediate(() => sink.abort(new Error('backend died')))
  })
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  assert.match(await client.all(), /part$/)
  assert.equal(asked, 0)
})

test('an observer that has no other answer ends the connection', async () => {
  await using server = await startHttp1Server((exchange) => {
    exchange.observer = { sent: () => {}, gone: () => {}, unsent: () => false }
    exchange.respond(200, new HeaderBlock(), 10).abort(new Error('backend died'))
  })
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  assert.equal(await client.all(), '')
})

test('bytes of bodies are counted as they pass, and those of a HEAD are none', async () => {
  const seen: [number, number][] = []
  await using server = await startHttp1Server((exchange) => {
    exchange.observer = { sent: () => seen.push([exchange.bytesIn, exchange.bytesOut]), gone: () => {} }
    exchange.body.pipe({
      source: null,
      write: () => {},
      flush: () => true,
      end: () => answer(exchange, 200, 'answer'),
      abort: () => {},
    })
  })
  using client = new RawClient(server.port)
  for (const [count, request] of [
    `POST / HTTP/1.1\r\n${H}Content-Length: 5\r\n\r\nabcde`,
    `POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n`,
    `HEAD / HTTP/1.1\r\n${H}\r\n`,
  ].entries()) {
    client.send(request)
    await eventually(() => seen.length === count + 1, 'the answer')
  }
  assert.deepEqual(seen, [
    [5, 6],
    [4, 6],
    [0, 0],
  ])
})

test('interim answers come before the response, and not after it has begun', async () => {
  await using server = await startHttp1Server((exchange) => {
    exchange.inform(103, HeaderBlock.of([['link', 'early']]))
    const sink = exchange.respond(200, new HeaderBlock(), 4)
    exchange.inform(103, HeaderBlock.of([['link', 'late']]))
    sink.write(Buffer.from('done'))
    sink.end(null)
    exchange.inform(103, HeaderBlock.of([['link', 'later']]))
  })
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  assert.match(await client.until('done'), /^HTTP\/1\.1 103 [^\r]*\r\nlink: early\r\n\r\nHTTP\/1\.1 200 [^]*done$/)
  assert.doesNotMatch(client.received, /late/)
})

test('a body that broke off does not look whole to whoever reads it later', async () => {
  const heard: string[] = []
  let late: Exchange | null = null
  await using server = await startHttp1Server((exchange) => {
    late = exchange
    exchange.observer = { sent: () => {}, gone: () => heard.push('gone') }
  })
  using client = new RawClient(server.port)
  client.send(`POST / HTTP/1.1\r\n${H}Content-Length: 5\r\n\r\nabc`)
  await eventually(() => late !== null, 'the request')
  for (const connection of server.connections) connection.destroy(new Error('cut'))
  const exchange = late as Exchange | null
  exchange?.body.pipe({
    source: null,
    write: () => heard.push('write'),
    flush: () => true,
    end: () => heard.push('end'),
    abort: () => heard.push('abort'),
  })
  assert.deepEqual(heard, ['gone', 'abort'])
})
