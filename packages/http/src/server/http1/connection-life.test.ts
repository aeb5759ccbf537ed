import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeTime } from '../../../../gateway/src/testing/fake-time.ts'
import {
  answer,
  describeRequest,
  eventually,
  RawClient,
  startHttp1Server,
} from '../../../../gateway/src/testing/http/http1-server.ts'
import type { Exchange, ExchangeObserver } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'

const H = 'Host: a\r\n'
const GET = `GET / HTTP/1.1\r\n${H}\r\n`

test('a response that only the end of the connection ends is reset when it breaks off', async () => {
  await using server = await startHttp1Server((exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), -1)
    sink.write(Buffer.from('part'))
    sink.flush()
    setImmediate(() => sink.abort(new Error('backend died')))
  })
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.0\r\n${H}\r\n`)
  await eventually(() => client.closed, 'the end')
  assert.match(client.error?.message ?? '', /ECONNRESET/)
})

test('a response of known length that breaks off ends without a reset: its length tells', async () => {
  await using server = await startHttp1Server((exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), 10)
    sink.write(Buffer.from('part'))
    sink.flush()
    setImmediate(() => sink.abort(new Error('backend died')))
  })
  using client = new RawClient(server.port)
  client.send(GET)
  assert.match(await client.all(), /\r\n\r\npart$/)
  assert.equal(client.error, null)
})

test('the observer of a connection is that of the request under way', async () => {
  const waiting: Exchange[] = []
  const observer: ExchangeObserver = { gone: () => {}, sent: () => {} }
  await using server = await startHttp1Server((exchange) => {
    exchange.observer = observer
    waiting.push(exchange)
  })
  const seen = (): unknown[] => {
    const found: unknown[] = []
    for (const connection of server.connections) connection.eachObserver((each) => found.push(each))
    return found
  }
  using client = new RawClient(server.port)
  await eventually(() => server.connections.size === 1, 'the connection')
  assert.deepEqual(seen(), [])
  client.send(GET)
  await eventually(() => waiting.length === 1, 'the request')
  assert.deepEqual(seen(), [observer])
  answer(waiting[0]!, 200, 'done')
  await client.until('done')
  assert.deepEqual(seen(), [])
})

test('empty lines before a request are passed over, however they are cut', async () => {
  await using server = await startHttp1Server(describeRequest)
  using client = new RawClient(server.port)
  const pieces = ['\r', '\n', '\r\n\r', '\n\r\n', '\r\nG', 'ET / HTTP/1.1\r\n', `${H}\r\n\r`, '\n', GET]
  for (const piece of pieces) await sent(client, piece)
  await client.until(/\|[^]*HTTP\/1\.1 200[^]*\|/)
  assert.deepEqual(server.refused, [])
})

test('empty lines alone are no request: the connection stays idle, and ends without a reply', async () => {
  const clock = new FakeTime()
  const options = { deadlines: clock.deadlines, idleTimeoutMs: 10_000 }
  await using server = await startHttp1Server(describeRequest, options)
  using client = new RawClient(server.port)
  await eventually(() => server.connections.size === 1, 'the connection')
  await sent(client, '\r\n\r\n')
  await clock.advance(11_000)
  assert.equal(await client.all(), '')
  assert.deepEqual(server.refused, [])
})

test('a lone CR at the start is refused once its next byte is no LF', async () => {
  await using server = await startHttp1Server(describeRequest)
  using client = new RawClient(server.port)
  client.send('\rGET / HTTP/1.1\r\n\r\n')
  assert.match(await client.all(), /^HTTP\/1\.1 400 /)
})

test('a client that sends requests and no more gets all their answers', async () => {
  const waiting: Exchange[] = []
  await using server = await startHttp1Server((exchange) => waiting.push(exchange))
  using client = new RawClient(server.port)
  client.socket.end(GET.repeat(3))
  for (let count = 1; count <= 3; count++) {
    await eventually(() => waiting.length === count, `request ${count}`)
    answer(waiting[count - 1]!, 200, `answer ${count}`)
  }
  const reply = await client.all()
  assert.deepEqual(reply.match(/answer \d/g), ['answer 1', 'answer 2', 'answer 3'])
})

test('a client that ends without a request is let go at once', async () => {
  await using server = await startHttp1Server(describeRequest)
  using client = new RawClient(server.port)
  client.socket.end()
  await client.all()
  await eventually(() => server.connections.size === 0, 'the end')
})

test('a connection that has reached its age ends after a quiet second, and says so in an answer before that', async () => {
  const clock = new FakeTime()
  const options = { deadlines: clock.deadlines, maxDurationMs: 30_000 }
  await using server = await startHttp1Server(describeRequest, options)
  using quiet = new RawClient(server.port)
  using busy = new RawClient(server.port)
  await eventually(() => server.connections.size === 2, 'both connections')
  busy.send(GET)
  assert.doesNotMatch(await busy.until(/\|/), /connection: close/)
  await clock.advance(30_100)
  assert.equal(quiet.ended, false)
  busy.send(GET)
  assert.match(await busy.all(), /connection: close/)
  await clock.advance(1_100)
  assert.equal(await quiet.all(), '')
})

test('a connection without an age goes on', async () => {
  const clock = new FakeTime()
  const options = { deadlines: clock.deadlines, idleTimeoutMs: 3_600_000 }
  await using server = await startHttp1Server(describeRequest, options)
  using client = new RawClient(server.port)
  client.send(GET)
  await client.until(/\|/)
  await clock.advance(600_000)
  client.received = ''
  client.send(GET)
  assert.doesNotMatch(await client.until(/\|/), /connection: close/)
})

test('a body that nobody asked for is not read as the next request', async () => {
  const waiting: Exchange[] = []
  await using server = await startHttp1Server((exchange) => waiting.push(exchange))
  using client = new RawClient(server.port)
  client.send(`POST /1 HTTP/1.1\r\n${H}Content-Length: ${GET.length}\r\n\r\n${GET}${GET.replace('/', '/2')}`)
  await eventually(() => waiting.length === 1, 'the request')
  answer(waiting[0]!, 200, 'one')
  await eventually(() => waiting.length === 2, 'the next request')
  assert.equal(waiting[1]!.target, '/2')
  answer(waiting[1]!, 200, 'two')
  await client.until('two')
})

/** Resolves when the bytes have been sent, and their receiver has had a turn. */
async function sent(client: RawClient, text: string): Promise<void> {
  await new Promise<void>((resolve) => client.socket.write(text, 'latin1', () => resolve()))
  await new Promise((resolve) => setImmediate(resolve))
}
