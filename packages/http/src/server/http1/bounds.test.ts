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
import type { Sink, Source } from '../../body/body.ts'
import type { Exchange, RawConnection } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'

const H = 'Host: a\r\n'

test('10,000 pipelined requests are answered in order, few of them at a time', async () => {
  const count = 10_000
  let handled = 0
  let waiting: Exchange | null = null
  await using server = await startHttp1Server((exchange) => {
    assert.equal(waiting, null, 'one request at a time')
    waiting = exchange
    handled++
    // Some responses are sent at once, some later.
    const reply = (): void => {
      waiting = null
      answer(exchange, 200, `<${exchange.target}>`)
    }
    if (handled % 10 === 0) setImmediate(reply)
    else reply()
  })
  using client = new RawClient(server.port)
  client.send(Array.from({ length: count }, (_, i) => `GET /${i} HTTP/1.1\r\n${H}\r\n`).join(''))
  await client.until(`</${count - 1}>`)
  const order = [...client.received.matchAll(/<\/(\d+)>/g)].map(([, n]) => Number(n))
  assert.deepEqual(
    order,
    Array.from({ length: count }, (_, i) => i),
  )
})

test('a client that pipelines and does not read is not served ahead of its reading', async () => {
  const body = 'x'.repeat(64 * 1024)
  let handled = 0
  await using server = await startHttp1Server((exchange) => {
    handled++
    answer(exchange, 200, body)
  })
  using client = new RawClient(server.port)
  client.socket.pause()
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`.repeat(2000))
  await settled(() => handled)
  assert.ok(handled > 0 && handled < 500, `${handled} answers made for a client that reads none`)
  let received = 0
  client.socket.removeAllListeners('data')
  client.socket.on('data', (chunk) => (received += chunk.length))
  client.socket.resume()
  await eventually(() => handled === 2000 && received > 2000 * body.length, 'the rest')
})

test('a slow reader stops the source of its response, which goes on when asked', async () => {
  const total = 200
  const piece = Buffer.alloc(64 * 1024, 'y')
  let written = 0
  let resumed = 0
  await using server = await startHttp1Server((exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), -1)
    const pump = (): void => {
      while (written < total) {
        written++
        sink.write(piece)
        if (!sink.flush()) return
      }
      sink.end(null)
    }
    sink.source = { length: -1, pipe: () => {}, resume: () => (resumed++, pump()), cancel: () => {} }
    pump()
  })
  using client = new RawClient(server.port)
  client.socket.pause()
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  await settled(() => written)
  assert.ok(written < total, `${written} of ${total} pieces written to a client that reads none`)
  const before = resumed
  let received = 0
  client.socket.removeAllListeners('data')
  client.socket.on('data', (chunk) => (received += chunk.length))
  client.socket.resume()
  await eventually(() => received > total * piece.length, 'the whole response')
  assert.equal(written, total)
  assert.ok(resumed > before)
})

test('a body nobody takes stays with the client', async () => {
  const exchanges: Exchange[] = []
  await using server = await startHttp1Server((exchange) => exchanges.push(exchange))
  using client = new RawClient(server.port)
  const size = 40 * 1024 * 1024
  client.send(`POST / HTTP/1.1\r\n${H}Content-Length: ${size}\r\n\r\n`)
  client.send(Buffer.alloc(size))
  await eventually(() => exchanges.length === 1, 'the request')
  await settled(() => client.socket.bytesWritten - client.socket.writableLength)
  assert.equal(exchanges[0]!.bytesIn, 0)
  assert.ok(client.socket.writableLength > 0, 'the client still holds some of it')

  // Now the body is read, and blocked half way.
  let taken = 0
  let blocked = false
  let ended = false
  let source: Source | null = null
  const sink: Sink = {
    source: null,
    write(chunk) {
      assert.equal(blocked, false, 'nothing is written to a blocked sink')
      taken += chunk.length
    },
    flush: () => !(blocked = taken > size / 2 && source === null),
    end: () => (ended = true),
    abort: () => {},
  }
  exchanges[0]!.body.pipe(sink)
  await eventually(() => blocked, 'the block')
  const before = taken
  await settled(() => client.socket.writableLength)
  assert.equal(taken, before)
  assert.ok(client.socket.writableLength > 0)
  source = sink.source
  blocked = false
  source!.resume()
  await eventually(() => ended, 'the end of the body')
  assert.equal(taken, size)
})

test('a half-closed client whose body waits for a slow sink is not given up', async () => {
  let sink: Sink | null = null
  let body = ''
  await using server = await startHttp1Server((exchange) => {
    sink = {
      source: null,
      write: (chunk) => (body += chunk.toString()),
      flush: () => false,
      end: () => answer(exchange, 200, `got ${body.length}`),
      abort: () => (body = 'aborted'),
    }
    exchange.body.pipe(sink)
  })
  using client = new RawClient(server.port)
  client.send(`POST / HTTP/1.1\r\n${H}Content-Length: 100\r\n\r\n${'a'.repeat(10)}`)
  await eventually(() => body.length === 10, 'the first piece')
  client.socket.end('b'.repeat(90))
  // Each piece blocks the sink again until it is resumed.
  const timer = setInterval(() => sink?.source?.resume(), 1)
  assert.match(await client.all(), /got 100$/)
  clearInterval(timer)
})

test('a head that comes in drops is refused after its time, however busy the drops', async () => {
  const clock = new FakeTime()
  await using server = await startHttp1Server(describeRequest, { deadlines: clock.deadlines })
  using client = new RawClient(server.port)
  client.send('G')
  await eventually(() => server.connections.size === 1, 'the connection')
  const drip = setInterval(() => {
    client.send('E')
    void clock.advance(5_000)
  }, 2)
  const reply = await client.all()
  clearInterval(drip)
  assert.match(reply, /^HTTP\/1\.1 408 /)
  assert.deepEqual(server.refused, ['408 request_head_timeout'])
  assert.ok(clock.now >= 60_000)
})

test('an idle connection ends after the idle time, without a reply', async () => {
  const clock = new FakeTime()
  await using server = await startHttp1Server(describeRequest, {
    deadlines: clock.deadlines,
    idleTimeoutMs: 5_000,
  })
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  await client.until('|||')
  const seen = client.received
  await clock.advance(4_000)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  await client.until(seen + seen)
  await clock.advance(6_000)
  assert.equal(await client.all(), seen + seen)
  assert.deepEqual(server.refused, [])
})

test('a body that stops arriving ends the connection', async () => {
  const clock = new FakeTime()
  let aborted = false
  await using server = await startHttp1Server(
    (exchange) =>
      exchange.body.pipe({
        source: null,
        write: () => {},
        flush: () => true,
        end: () => {},
        abort: () => (aborted = true),
      }),
    { deadlines: clock.deadlines },
  )
  using client = new RawClient(server.port)
  client.send(`POST / HTTP/1.1\r\n${H}Content-Length: 10\r\n\r\nabc`)
  await eventually(() => server.connections.size === 1, 'the connection')
  const ticking = setInterval(() => void clock.advance(5_000), 2)
  await client.all()
  clearInterval(ticking)
  assert.equal(aborted, true)
})

test('a client that takes nothing of its response is given up, one that takes a little is not', async () => {
  const clock = new FakeTime()
  let gone = false
  const piece = Buffer.alloc(1024 * 1024)
  await using server = await startHttp1Server(
    (exchange) => {
      exchange.observer = { sent: () => {}, gone: () => (gone = true) }
      const sink = exchange.respond(200, new HeaderBlock(), -1)
      const pump = (): void => {
        do sink.write(piece)
        while (sink.flush())
      }
      sink.source = { length: -1, pipe: () => {}, resume: pump, cancel: () => {} }
      pump()
    },
    { deadlines: clock.deadlines, idleTimeoutMs: 10_000 },
  )
  using client = new RawClient(server.port)
  let taken = 0
  client.socket.removeAllListeners('data')
  client.socket.on('data', (chunk) => (taken += chunk.length))
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  // Steady reading for many idle times.
  for (let round = 1; round <= 8; round++) {
    const goal = taken + 8 * piece.length
    await eventually(() => taken > goal, 'more of the response')
    await clock.advance(6_000)
  }
  assert.equal(gone, false)
  client.socket.pause()
  const ticking = setInterval(() => void clock.advance(3_000), 2)
  await eventually(() => gone, 'giving up')
  clearInterval(ticking)
})

test('a drain lets the busy connection end after its response, and an idle one once it has been quiet', async () => {
  const clock = new FakeTime()
  const waiting: Exchange[] = []
  await using server = await startHttp1Server((exchange) => waiting.push(exchange), { deadlines: clock.deadlines })
  using idle = new RawClient(server.port)
  using busy = new RawClient(server.port)
  busy.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  await eventually(() => waiting.length === 1 && server.connections.size === 2, 'both connections')
  for (const connection of server.connections) connection.drain(5_000)
  await clock.advance(4_000)
  assert.equal(idle.ended, false)
  await clock.advance(2_000)
  assert.equal(await idle.all(), '')
  answer(waiting[0]!, 200, 'last')
  assert.match(await busy.all(), /connection: close\r\n\r\nlast$/)
})

test('a drain leaves a request whose head is still arriving, and a connection that was handed over, their time', async () => {
  const clock = new FakeTime()
  const tunnels: RawConnection[] = []
  await using server = await startHttp1Server(
    (exchange) => {
      if (exchange.upgrade === '') answer(exchange, 200, exchange.target)
      else tunnels.push(exchange.takeOver(101, new HeaderBlock())!)
    },
    { deadlines: clock.deadlines },
  )
  using slow = new RawClient(server.port)
  using tunnel = new RawClient(server.port)
  tunnel.send(`GET / HTTP/1.1\r\n${H}Connection: upgrade\r\nUpgrade: echo\r\n\r\n`)
  await tunnel.until('101')
  slow.send(`GET /first HTTP/1.1\r\n${H}\r\nGET /last HTTP/1.1\r\n`)
  await slow.until('/first')
  for (const connection of server.connections) connection.drain(1_000)
  await clock.advance(3_000)
  assert.deepEqual([slow.ended, tunnel.ended, tunnels[0]!.socket.destroyed], [false, false, false])
  slow.send(`${H}\r\n`)
  assert.match(await slow.all(), /connection: close\r\n\r\n\/last$/)
  tunnels[0]!.socket.end('bye')
  assert.match(await tunnel.all(), /bye$/)
})

test('a request on a connection that was idle when the drain began is answered as the last', async () => {
  await using server = await startHttp1Server((exchange) => answer(exchange, 200, exchange.target))
  using client = new RawClient(server.port)
  client.send(`GET /first HTTP/1.1\r\n${H}\r\n`)
  await client.until('/first')
  for (const connection of server.connections) connection.drain()
  client.send(`GET /last HTTP/1.1\r\n${H}\r\n`)
  const text = await client.all()
  assert.match(text, /connection: close\r\n\r\n\/last$/)
  assert.equal(text.match(/connection: close/g)?.length, 1)
})

test('a connection whose response began before the drain is kept for one more request', async () => {
  const sinks: Sink[] = []
  await using server = await startHttp1Server((exchange) => {
    if (exchange.target === '/last') return answer(exchange, 200, 'last')
    const sink = exchange.respond(200, new HeaderBlock(), 5)
    sinks.push(sink)
    sink.write(Buffer.from('fir'))
    sink.flush()
  })
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  await client.until('fir')
  for (const connection of server.connections) connection.drain()
  sinks[0]!.write(Buffer.from('st'))
  sinks[0]!.end(null)
  await client.until('first')
  client.send(`GET /last HTTP/1.1\r\n${H}\r\n`)
  assert.match(await client.all(), /first[^]*connection: close\r\n\r\nlast$/)
})

/** Waits until a number has stopped moving for a while. */
async function settled(value: () => number): Promise<void> {
  for (let last = -1, still = 0; still < 10; still = value() === last ? still + 1 : 0, last = value()) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

test('a connection that comes while the port drains is given a moment for its one request', async () => {
  await using server = await startHttp1Server(describeRequest)
  using silent = new RawClient(server.port)
  using prompt = new RawClient(server.port)
  await eventually(() => server.connections.size === 2, 'two connections')
  for (const connection of server.connections) connection.drainSoon(500)
  prompt.send(`GET /1 HTTP/1.1\r\n${H}\r\nGET /2 HTTP/1.1\r\n${H}\r\n`)
  assert.match(await prompt.all(), /^HTTP\/1\.1 200 [^]*connection: close\r\n\r\nGET a \/1\|(?![^]*\/2)/)
  assert.equal(await silent.all(), '')
})
