import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UpstreamRequest } from '../upstream-types.ts'
import { Http1Connection } from './http1-connection.ts'
import { emptySource, type Sink, type Source, sourceOf } from '../../body/body.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { MemorySocket } from '../../http1/fuzz/memory-socket.ts'

test('a connection is idle again after a whole response, and carries the next request', async () => {
  const { backend, events, send } = harness()
  send({})
  await backend.replies('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  assert.deepEqual(events, ['200', 'ok', 'idle', 'end'])
  send({})
  await backend.replies('HTTP/1.1 204 No Content\r\n\r\n')
  assert.deepEqual(events.slice(4), ['idle', '204', 'end'])
})

test('bytes beyond a response poison the connection', async () => {
  for (const surplus of ['x', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil']) {
    const { backend, events, send } = harness()
    send({})
    await backend.replies('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' + surplus)
    assert.equal(events.includes('idle'), false)
    assert.equal(backend.socket.destroyed, true)
  }
})

test('bytes beyond an early response poison the connection too', async () => {
  const { backend, events, send } = harness()
  let sink: Sink | null = null
  send({ method: 'POST', body: { ...emptySource, length: -1, pipe: (into) => (sink = into) } })
  await backend.replies('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  await backend.replies('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil')
  sink!.end(null)
  await turn()
  assert.equal(events.includes('idle'), false)
  assert.equal(backend.socket.destroyed, true)
})

test('an idle connection that speaks is destroyed', async () => {
  const { backend, send } = harness()
  send({})
  await backend.replies('HTTP/1.1 204 No Content\r\n\r\n')
  await backend.replies('H')
  assert.equal(backend.socket.destroyed, true)
})

test('a response that closes, or ends with the connection, is not followed by another', async () => {
  for (const [head, body] of [
    ['Connection: close\r\nContent-Length: 2', 'ok'],
    ['X: y', 'ok'],
  ]) {
    const { backend, events, send } = harness()
    send({})
    await backend.replies(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`)
    backend.socket.push(null)
    await turn()
    assert.deepEqual(
      events.filter((event) => event !== 'closed'),
      ['200', 'ok', 'end'],
    )
  }
})

test('a backend that closes after its response does not cut off a slow sink', async () => {
  const { backend, events, send, gate } = harness()
  gate.open = false
  send({})
  await backend.replies('HTTP/1.1 200 OK\r\n\r\nuntil the end')
  await backend.closes()
  assert.deepEqual(events, ['200', 'until the end', 'closed'])
  gate.open = true
  gate.sink!.source!.resume()
  assert.deepEqual(events, ['200', 'until the end', 'closed', 'end'])
})

test('a backend that closes after its response does not cut off a sink that comes late', async () => {
  const { backend, events, send, gate } = harness()
  gate.late = true
  send({})
  await backend.replies('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody')
  await backend.closes()
  assert.deepEqual(events, ['200', 'closed'])
  gate.take!()
  assert.deepEqual(events, ['200', 'closed', 'body', 'end'])
})

test('a response cut short is told as lost', async () => {
  for (const [bytes, expected] of [
    ['', 'failed connection_lost'],
    ['HTTP/1.1 200', 'failed bad_response'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab', 'abort'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab', 'abort'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n', 'abort'],
  ] as const) {
    const { backend, events, send } = harness()
    send({})
    if (bytes !== '') await backend.replies(bytes)
    backend.socket.push(null)
    await turn()
    assert.ok(events.includes(expected), `${JSON.stringify(bytes)} gave ${events.join()}`)
    assert.equal(events.includes('end'), false)
  }
})

test('ambiguous or malformed responses are refused', async () => {
  for (const head of [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked',
    'HTTP/1.1 200 OK\r\nX : y',
    'HTTP/1.1 200 OK\r\nX: y\r\n z',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket',
    'HTTP/1.0 100 Continue',
    'HTTP/2 200 OK',
  ]) {
    const { backend, events, send } = harness()
    send({})
    await backend.replies(`${head}\r\n\r\n`)
    assert.deepEqual(
      events.filter((event) => event !== 'closed'),
      ['failed bad_response'],
      head,
    )
    assert.equal(backend.socket.destroyed, true)
  }
})

test('a request is framed once, and an empty piece does not end it', async () => {
  const { backend, send } = harness()
  let sink: Sink | null = null
  const headers = HeaderBlock.of([['content-length', '9']])
  send({ method: 'POST', headers, body: { ...emptySource, length: -1, pipe: (into) => (sink = into) } })
  sink!.write(Buffer.from('ab'))
  sink!.write(Buffer.alloc(0))
  sink!.end(HeaderBlock.of([['x-sum', '1']]))
  await turn()
  assert.equal(
    backend.socket.written,
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nx-sum: 1\r\n\r\n',
  )
  const known = harness()
  known.send({ method: 'PUT', body: sourceOf(Buffer.from('abc')) })
  await turn()
  assert.equal(known.backend.socket.written, 'PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc')
})

test('a sink that cancels inside a write hears nothing more, and the connection is not reused', async () => {
  for (const bytes of ['Content-Length: 2\r\n\r\nok', 'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n']) {
    const { backend, events, send, gate } = harness()
    gate.cancels = true
    send({})
    await backend.replies('HTTP/1.1 200 OK\r\n' + bytes)
    assert.deepEqual(
      events.filter((event) => event !== 'closed'),
      ['200', 'ok'],
    )
    assert.equal(backend.socket.destroyed, true)
  }
})

interface Gate {
  open: boolean
  cancels: boolean
  /** Whether the response is read only when `take` is called. */
  late: boolean
  take: (() => void) | null
  sink: Sink | null
}

interface Harness {
  events: string[]
  gate: Gate
  backend: { socket: MemorySocket; replies: (text: string) => Promise<void>; closes: () => Promise<void> }
  send: (request: Partial<UpstreamRequest>) => void
}

/** One connection to a backend in memory; the outcomes of its calls are recorded in `events`. */
function harness(): Harness {
  const socket = new MemorySocket()
  const events: string[] = []
  const gate: Gate = { open: true, cancels: false, late: false, take: null, sink: null }
  const connection = new Http1Connection(socket.asSocket, {
    idle: () => events.push('idle'),
    closed: () => events.push('closed'),
  })
  const take = (body: Source): void => {
    const sink: Sink = {
      source: null,
      write(chunk) {
        events.push(chunk.toString('latin1'))
        if (gate.cancels) sink.source!.cancel(new Error('enough'))
      },
      flush: () => gate.open,
      end: () => events.push('end'),
      abort: () => events.push('abort'),
    }
    gate.sink = sink
    body.pipe(sink)
  }
  const send = (request: Partial<UpstreamRequest>): void => {
    const plain = { method: 'GET', target: '/', authority: 'a', headers: new HeaderBlock() }
    connection.send(
      { ...plain, body: emptySource, upgrade: '', teTrailers: false, ...request },
      {
        informed: (status) => events.push(`${status}`),
        responded: (response) => {
          events.push(`${response.status}`)
          gate.take = () => take(response.body)
          if (!gate.late) gate.take()
        },
        upgraded: () => events.push('upgraded'),
        failed: (error) => events.push(`failed ${error.code}`),
      },
    )
  }
  const replies = async (text: string): Promise<void> => {
    socket.feed([Buffer.from(text, 'latin1')])
    await turn()
  }
  const closes = async (): Promise<void> => {
    // Like a real socket: the end is emitted even while reading is paused.
    socket.push(null)
    socket.read(0)
    await turn()
    socket.destroy()
    await turn()
  }
  return { events, gate, backend: { socket, replies, closes }, send }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
