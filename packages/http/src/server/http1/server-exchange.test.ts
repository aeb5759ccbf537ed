import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answer,
  describeRequest,
  eventually,
  RawClient,
  startHttp1Server,
} from '../../../../gateway/src/testing/http/http1-server.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'

const H = 'Host: a\r\n'
const GET = `GET / HTTP/1.1\r\n${H}`

/** A request and the description that `describeRequest` gives of it. */
const accepted: [name: string, bytes: string, seen: string][] = [
  [
    'encoded slash and semicolon pass as they are',
    `GET /a%2Fb;c=d?e=%2e%2e/../ HTTP/1.1\r\n${H}\r\n`,
    'GET a /a%2Fb;c=d?e=%2e%2e/../|||',
  ],
  ['empty lines before a request', `\r\n\r\n${GET}\r\n`, 'GET a /|||'],
  ['absolute form', `GET HTTP://A/b HTTP/1.1\r\n${H}\r\n`, 'GET A /b|||'],
  ['asterisk form', `OPTIONS * HTTP/1.1\r\n${H}\r\n`, 'OPTIONS a *|||'],
  ['unknown method', `BREW / HTTP/1.1\r\n${H}\r\n`, 'BREW a /|||'],
  ['body by length', `POST / HTTP/1.1\r\n${H}Content-Length: 5\r\n\r\nabcde`, 'POST a /|Content-Length: 5\r\n|abcde|'],
  [
    'chunked body with extensions and trailers',
    `POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 1\r\nHost: b\r\n\r\n`,
    'POST a /||abcde|X-Sum: 1\r\n',
  ],
  [
    'hop-by-hop fields are removed',
    `${GET}Connection: keep-alive, x-a\r\nX-A: 1\r\nX-B: 2\r\nKeep-Alive: 3\r\nTE: gzip\r\nProxy-Connection: x\r\n\r\n`,
    'GET a /|X-B: 2\r\n||',
  ],
  [
    'Upgrade that Connection nominates',
    `${GET}Connection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n`,
    'GET a / websocket|||',
  ],
  ['Upgrade alone means nothing', `${GET}Upgrade: websocket\r\n\r\n`, 'GET a /|||'],
  [
    'Upgrade with a body means nothing',
    `POST / HTTP/1.1\r\n${H}Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\nx`,
    'POST a /|Content-Length: 1\r\n|x|',
  ],
  [
    'Upgrade in HTTP/1.0 means nothing',
    `GET / HTTP/1.0\r\n${H}Connection: upgrade, keep-alive\r\nUpgrade: websocket\r\n\r\n`,
    'GET a /|||',
  ],
]

for (const [name, bytes, seen] of accepted) {
  test(name, async () => {
    await using server = await startHttp1Server(describeRequest)
    using client = new RawClient(server.port)
    client.send(bytes)
    await client.until('\r\n\r\n' + seen)
    assert.deepEqual(server.refused, [])
    // The connection goes on after the end of the message.
    client.received = ''
    client.send(`${GET}\r\n`)
    await client.until('\r\n\r\nGET a /|||')
  })
}

test('HTTP/1.1 stays open and says nothing; close is obeyed', async () => {
  await using server = await startHttp1Server(describeRequest)
  using client = new RawClient(server.port)
  client.send(`${GET}\r\n`)
  assert.doesNotMatch(await client.until('|||'), /connection:/)
  client.send(`${GET}Connection: x, Close\r\n\r\n${GET}\r\n`)
  const reply = await client.all()
  assert.equal(reply.match(/HTTP\/1\.1 200 OK/g)!.length, 2)
  assert.match(reply, /connection: close\r\n/)
})

test('HTTP/1.0 closes unless it asks to stay', async () => {
  await using server = await startHttp1Server(describeRequest)
  using stays = new RawClient(server.port)
  stays.send(`GET /1 HTTP/1.0\r\n${H}Connection: keep-alive\r\n\r\n`)
  assert.match(await stays.until('/1|||'), /connection: keep-alive\r\n/)
  stays.send(`GET /2 HTTP/1.0\r\n${H}\r\n`)
  assert.match(await stays.all(), /connection: close\r\n[^]*\/2\|\|\|$/)
})

test('a body of unknown length is chunked for HTTP/1.1, with trailers, and ended by the end for HTTP/1.0', async () => {
  await using server = await startHttp1Server((exchange) => {
    const sink = exchange.respond(200, HeaderBlock.of([['content-length', '99']]), -1)
    sink.write(Buffer.from('abc'))
    sink.write(Buffer.alloc(0))
    sink.flush()
    sink.write(Buffer.from('0123456789'))
    sink.end(HeaderBlock.of([['x-sum', '1']]))
  })
  using modern = new RawClient(server.port)
  modern.send(`${GET}\r\n`)
  const chunked = await modern.until('x-sum: 1\r\n\r\n')
  assert.match(chunked, /\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\nx-sum: 1\r\n\r\n$/)
  assert.doesNotMatch(chunked, /content-length/)
  using old = new RawClient(server.port)
  old.send(`GET / HTTP/1.0\r\n${H}Connection: keep-alive\r\n\r\n`)
  assert.match(await old.all(), /connection: close\r\n\r\nabc0123456789$/)
})

test('a chunk in wire format is sent as it is if the body is chunked; other bodies take bytes only', async () => {
  const seen: string[] = []
  await using server = await startHttp1Server((exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), exchange.target === '/known' ? 3 : -1)
    const isFramed = sink.takesFramed === true && sink.writeFramed?.('3\r\nabc\r\n', 3) === true
    if (!isFramed) sink.write(Buffer.from('abc'))
    seen.push(`${exchange.method} ${exchange.target} ${isFramed} ${exchange.bytesOut}`)
    sink.end(null)
    assert.equal(sink.writeFramed?.('1\r\nd\r\n', 3), false)
  })
  using client = new RawClient(server.port)
  client.send(`${GET}\r\n`)
  assert.match(await client.until('0\r\n\r\n'), /\r\n\r\n3\r\nabc\r\n0\r\n\r\n$/)
  client.send(`HEAD / HTTP/1.1\r\n${H}\r\nGET /known HTTP/1.1\r\n${H}\r\nGET / HTTP/1.0\r\n${H}\r\n`)
  assert.match(await client.all(), /\r\n\r\nabc$/)
  assert.deepEqual(seen, ['GET / true 3', 'HEAD / false 0', 'GET /known false 3', 'GET / false 3'])
})

test('HEAD, 204 and 304 have no body, whatever is written', async () => {
  await using server = await startHttp1Server((exchange) => {
    const status = Number(exchange.target.slice(1))
    const sink = exchange.respond(status, HeaderBlock.of([['content-length', '3']]), exchange.method === 'PUT' ? -1 : 3)
    sink.write(Buffer.from('abc'))
    sink.end(null)
  })
  using client = new RawClient(server.port)
  client.send(`HEAD /200 HTTP/1.1\r\n${H}\r\nGET /204 HTTP/1.1\r\n${H}\r\nPUT /304 HTTP/1.1\r\n${H}\r\n`)
  client.send(`GET /200 HTTP/1.1\r\n${H}Connection: close\r\n\r\n`)
  const replies = (await client.all()).split('\r\n\r\n')
  assert.deepEqual(replies, [
    'HTTP/1.1 200 OK\r\ncontent-length: 3',
    'HTTP/1.1 204 No Content',
    'HTTP/1.1 304 Not Modified\r\ncontent-length: 3',
    'HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close',
    'abc',
  ])
})

test('100 Continue is sent once the body is wanted, and only then', async () => {
  const waiting: Exchange[] = []
  await using server = await startHttp1Server((exchange) => waiting.push(exchange))
  using client = new RawClient(server.port)
  client.send(`POST / HTTP/1.1\r\n${H}Expect: 100-Continue\r\nContent-Length: 3\r\n\r\n`)
  await eventually(() => waiting.length === 1, 'the request')
  assert.equal(client.received, '')
  describeRequest(waiting[0]!)
  await client.until('HTTP/1.1 100 Continue\r\n\r\n')
  client.send('abc')
  assert.match(await client.until('|abc|'), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
  assert.doesNotMatch(client.received, /Expect/)
})

test('an answer without 100 Continue ends the connection, because the body may still come', async () => {
  await using server = await startHttp1Server((exchange) => answer(exchange, 403, 'no'))
  using client = new RawClient(server.port)
  client.send(`POST / HTTP/1.1\r\n${H}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`)
  assert.match(await client.all(), /^HTTP\/1\.1 403 [^]*connection: close\r\n\r\nno$/)
})

test('HTTP/1.0 gets neither 100 Continue nor other interim answers', async () => {
  await using server = await startHttp1Server((exchange) => {
    exchange.inform(103, HeaderBlock.of([['link', '</a>']]))
    describeRequest(exchange)
  })
  using old = new RawClient(server.port)
  old.send(`POST / HTTP/1.0\r\n${H}Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx`)
  assert.match(await old.all(), /^HTTP\/1\.1 200 OK/)
  using modern = new RawClient(server.port)
  modern.send(`${GET}\r\n`)
  assert.match(await modern.until('|||'), /^HTTP\/1\.1 103 Early Hints\r\nlink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK/)
})

test('an early answer reaches a client that is still sending', async () => {
  await using server = await startHttp1Server((exchange) => answer(exchange, 413, 'too much'))
  using client = new RawClient(server.port)
  client.send(`POST / HTTP/1.1\r\n${H}Content-Length: 5000000\r\n\r\n`)
  client.send(Buffer.alloc(500_000))
  assert.match(await client.all(), /^HTTP\/1\.1 413 [^]*connection: close\r\n\r\ntoo much$/)
})

test('a client that stops sending after its request still gets the answer', async () => {
  const waiting: Exchange[] = []
  await using server = await startHttp1Server((exchange) => waiting.push(exchange))
  using client = new RawClient(server.port)
  client.socket.end(`${GET}\r\nGET /2 HTTP/1.1\r\n${H}\r\n`)
  await eventually(() => waiting.length === 1, 'the first request')
  answer(waiting[0]!, 200, 'one')
  await eventually(() => waiting.length === 2, 'the second request')
  answer(waiting[1]!, 200, 'two')
  assert.match(await client.all(), /one[^]*two$/)
})

test('takeOver answers, hands over the socket and the bytes already read', async () => {
  await using server = await startHttp1Server((exchange) => {
    const raw = exchange.takeOver(101, HeaderBlock.of([['x-a', '1']]))!
    raw.socket.end(`early:${raw.early?.toString()}`)
  })
  using client = new RawClient(server.port)
  client.send(`${GET}Connection: upgrade\r\nUpgrade: Echo\r\n\r\nhello`)
  assert.equal(
    await client.all(),
    'HTTP/1.1 101 Switching Protocols\r\nx-a: 1\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nearly:hello',
  )
})

test('a short body that a reply leaves unread is dropped, and the connection stays', async () => {
  await using server = await startHttp1Server((exchange) => exchange.respond(429, new HeaderBlock(), 0).end(null))
  using client = new RawClient(server.port)
  client.send(`POST / HTTP/1.1\r\n${H}content-length: 5\r\n\r\n`)
  assert.doesNotMatch(await client.until('content-length: 0\r\n\r\n'), /connection:/)
  client.send(`12345${GET}\r\n`)
  await eventually(() => client.received.match(/ 429 /g)!.length === 2, 'a second answer')
})

test('a long or endless body that a reply leaves unread ends the connection', async () => {
  await using server = await startHttp1Server((exchange) => exchange.respond(429, new HeaderBlock(), 0).end(null))
  for (const framing of [
    'content-length: 70000',
    'transfer-encoding: chunked',
    'content-length: 5\r\nexpect: 100-continue',
  ]) {
    using client = new RawClient(server.port)
    client.send(`POST / HTTP/1.1\r\n${H}${framing}\r\n\r\n`)
    assert.match(await client.all(), /connection: close/)
  }
})

test('interim answers after the head of the response are dropped', async () => {
  await using server = await startHttp1Server((exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), -1)
    exchange.inform(103, HeaderBlock.of([['link', '</a>']]))
    sink.write(Buffer.from('body'))
    sink.end(null)
    exchange.inform(103, HeaderBlock.of([['link', '</a>']]))
  })
  using client = new RawClient(server.port)
  client.send(`${GET}Connection: close\r\n\r\n`)
  const reply = await client.all()
  assert.match(reply, /^HTTP\/1\.1 200 OK/)
  assert.doesNotMatch(reply, /103/)
})

test('after a fault in one request, its response is the last on the connection', async () => {
  let handled = 0
  await using server = await startHttp1Server((exchange) => {
    handled++
    exchange.observer = { sent: () => {}, gone: () => {}, faulted: () => answer(exchange, 500, 'a fault') }
    throw new Error('a fault')
  })
  using client = new RawClient(server.port)
  client.send(`${GET}\r\n${GET}\r\n`)
  assert.match(await client.all(), /^HTTP\/1\.1 500 [^]*connection: close\r\n\r\na fault$/)
  assert.equal(handled, 1)
})
