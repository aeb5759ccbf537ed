import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer, eventually, RawClient, startHttp1Server } from '../../../../gateway/src/testing/http/http1-server.ts'
import type { Sink } from '../../body/body.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'

const H = 'Host: a\r\n'

test('a client that aborts while waiting is told of once', async () => {
  const { events, handler } = recorder()
  await using server = await startHttp1Server(handler)
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  await eventually(() => events.length === 2, 'the request')
  client.socket.resetAndDestroy()
  await eventually(() => server.connections.size === 0, 'the end')
  assert.deepEqual(events, ['request', 'end', 'gone'])
})

test('a client that aborts inside its body aborts the sink', async () => {
  for (const framing of ['Content-Length: 10', 'Transfer-Encoding: chunked']) {
    const { events, handler } = recorder()
    await using server = await startHttp1Server(handler)
    using client = new RawClient(server.port)
    client.send(`POST / HTTP/1.1\r\n${H}${framing}\r\n\r\n`)
    client.send(framing.startsWith('T') ? '3\r\nabc\r\n' : 'abc')
    await eventually(() => events.includes('abc'), 'the body')
    // A close in the middle of a message is not a half-close.
    client.socket.end()
    await eventually(() => server.connections.size === 0, 'the end')
    assert.deepEqual(events, ['request', 'abc', 'abort', 'gone'])
  }
})

test('a client that aborts while it reads cancels the source of the response', async () => {
  let cancelled = false
  let gone = false
  await using server = await startHttp1Server((exchange) => {
    exchange.observer = { sent: () => {}, gone: () => (gone = true) }
    const sink = exchange.respond(200, new HeaderBlock(), -1)
    sink.source = { length: -1, pipe: () => {}, resume: () => {}, cancel: () => (cancelled = true) }
    sink.write(Buffer.from('first'))
    sink.flush()
  })
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  await client.until('first')
  client.socket.resetAndDestroy()
  await eventually(() => gone, 'gone')
  assert.equal(cancelled, true)
})

test('a response that breaks off does not look whole', async () => {
  await using server = await startHttp1Server((exchange) => {
    const sink = exchange.respond(200, new HeaderBlock(), -1)
    sink.write(Buffer.from('part'))
    sink.flush()
    sink.abort(new Error('backend died'))
  })
  using client = new RawClient(server.port)
  client.send(`GET / HTTP/1.1\r\n${H}\r\n`)
  const reply = await client.all()
  assert.doesNotMatch(reply, /0\r\n\r\n$/)
})

test('a broken chunk aborts the body, and a handler that answers then is not heard', async () => {
  const { events, handler } = recorder((exchange) => answer(exchange, 502, 'late'))
  await using server = await startHttp1Server(handler)
  using client = new RawClient(server.port)
  client.send(`POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nX`)
  const reply = await client.all()
  assert.match(reply, /^HTTP\/1\.1 400 /)
  assert.doesNotMatch(reply, /late/)
  assert.deepEqual(events, ['request', 'abc', 'abort', 'gone'])
})

test('a sink that cancels inside a write is not called again', async () => {
  for (const body of ['Content-Length: 3\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n']) {
    const calls: string[] = []
    await using server = await startHttp1Server((exchange) => {
      const sink: Sink = {
        source: null,
        write() {
          calls.push('write')
          sink.source!.cancel(new Error('enough'))
        },
        flush: () => calls.push('flush') > 0,
        end: () => calls.push('end'),
        abort: () => calls.push('abort'),
      }
      exchange.body.pipe(sink)
      answer(exchange, 200, 'done')
    })
    using client = new RawClient(server.port)
    client.send(`POST / HTTP/1.1\r\n${H}${body}`)
    await client.until('done')
    assert.deepEqual(calls, ['write'])
  }
})

/** Records the events of each request and of its body. */
function recorder(onAbort: (exchange: Exchange) => void = () => {}): {
  events: string[]
  handler: (exchange: Exchange) => void
} {
  const events: string[] = []
  const handler = (exchange: Exchange): void => {
    events.push('request')
    exchange.observer = { sent: () => events.push('sent'), gone: () => events.push('gone') }
    exchange.body.pipe({
      source: null,
      write: (chunk) => events.push(chunk.toString()),
      flush: () => true,
      end: () => events.push('end'),
      abort() {
        events.push('abort')
        onAbort(exchange)
      },
    })
  }
  return { events, handler }
}
