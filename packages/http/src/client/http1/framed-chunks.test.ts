import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { emptySource, type Sink, type Source } from '../../body/body.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { onFault } from '../../runtime/faults.ts'
import { connectShared } from '../../socket/socket-reader.ts'
import { TrackedBody } from '../destination/tracked-body.ts'
import { Http1Connection } from './http1-connection.ts'

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

describe('a chunk that arrives alone', () => {
  test('is forwarded in wire format', async () => {
    await using call = await startCall()
    assert.deepEqual(await call.gets('5\r\nhello\r\n'), ['framed 3 5\r\nhello\r\n'])
    assert.deepEqual(await call.gets('A\r\n\r\n\r\n\r\n\xff\xe9\r\n\r\n'), [
      'framed 3 A\r\n\r\n\r\n\r\n\xff\xe9\r\n\r\n',
    ])
    assert.deepEqual(await call.gets('0\r\n\r\n'), ['end'])
  })

  test('reaches the sink of a body whose end is watched', async () => {
    const lease = { ended: () => call.note('lease ended'), failed: () => call.note('lease failed') }
    await using call = await startCall({ wrap: (body) => new TrackedBody(body, lease) })
    assert.deepEqual(await call.gets('2\r\nhi\r\n'), ['framed 3 2\r\nhi\r\n'])
    assert.deepEqual(await call.gets('0\r\n\r\n', 2), ['lease ended', 'end'])
  })

  test('stays bytes for a sink that takes no framed chunks, or refuses this one', async () => {
    for (const refuses of [{ takesFramed: false }, { writeFramed: () => false }]) {
      await using call = await startCall({ sink: refuses })
      assert.deepEqual(await call.gets('5\r\nhello\r\n'), ['bytes hello'])
      assert.deepEqual(await call.gets('0\r\n\r\n'), ['end'])
    }
  })

  test('waits with everything after it while the sink is full', async () => {
    await using call = await startCall()
    call.isFull = true
    assert.deepEqual(await call.gets('1\r\na\r\n'), ['framed 3 1\r\na\r\n'])
    call.origin.write('1\r\nb\r\n', 'latin1')
    call.isFull = false
    await call.idle()
    assert.deepEqual(call.events, [])
    call.sink.source?.resume()
    await call.until(1)
    assert.match(call.events.join(), /b/)
  })

  test('ends the call of a sink that cancels, and the connection carries no other call', async () => {
    await using call = await startCall({
      sink: { writeFramed: () => (call.sink.source?.cancel(new Error('enough')), call.note('canceled'), true) },
    })
    assert.deepEqual(await call.gets('1\r\na\r\n'), ['canceled'])
    assert.equal(call.connection.usable, false)
  })

  test('aborts the response of a sink that throws', async () => {
    const faults: unknown[] = []
    const stop = onFault((error) => faults.push(error))
    try {
      await using call = await startCall({
        sink: {
          writeFramed: () => {
            throw new Error('sink is broken')
          },
        },
      })
      assert.deepEqual(await call.gets('1\r\na\r\n'), ['abort'])
      assert.match(String(faults[0]), /sink is broken/)
    } finally {
      stop()
    }
  })
})

test('everything else is decoded', async () => {
  for (const [pieces, expected] of [
    [['5\r\nhello\r\n3\r\nabc\r\n'], ['bytes hello', 'bytes abc']],
    [
      ['5\r\nhel', 'lo\r\n'],
      ['bytes hel', 'bytes lo'],
    ],
    [['5\r\n', 'hello\r\n'], ['bytes hello']],
    [['05\r\nhello\r\n'], ['bytes hello']],
    [['5;a=b\r\nhello\r\n'], ['bytes hello']],
    [['1\r\nx\r\n0\r\n\r\n'], ['bytes x', 'end']],
  ] satisfies [string[], string[]][]) {
    await using call = await startCall()
    const events: string[] = []
    for (const [at, piece] of pieces.entries()) {
      const isQuiet = pieces.length === 2 && piece === '5\r\n'
      if (isQuiet) await call.idle(piece)
      else events.push(...(await call.gets(piece, at === pieces.length - 1 ? expected.length - events.length : 1)))
    }
    assert.deepEqual(events, expected)
  }
})

test('a chunk that is longer than its size breaks the response', async () => {
  await using call = await startCall()
  assert.deepEqual(await call.gets('4\r\nhello\r\n', 2), ['bytes hell', 'abort'])
})

interface CallOptions {
  sink?: Partial<Sink>
  wrap?: (body: Source) => Source
}

/** A call whose response the test sends piece by piece. */
interface WatchedCall extends AsyncDisposable {
  origin: Socket
  connection: Http1Connection
  sink: Sink
  /** Whether the sink asks its source to stop. */
  isFull: boolean
  events: string[]
  note(event: string): void
  /** Waits for this many events. */
  until(count: number): Promise<void>
  /** Sends a piece; returns the events that it causes. */
  gets(piece: string, count?: number): Promise<string[]>
  /** Sends a piece, and waits until everything that was sent has been read. */
  idle(piece?: string): Promise<void>
}

/** Starts a call over real sockets. */
async function startCall({ sink: changes, wrap = (body) => body }: CallOptions = {}): Promise<WatchedCall> {
  const server = createServer({ noDelay: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const { socket, reader } = connectShared({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  const [origin] = await accepted
  const connection = new Http1Connection(socket, { idle: () => {}, closed: () => {} }, reader)
  let told: (() => void) | null = null
  const call: WatchedCall = {
    origin,
    connection,
    isFull: false,
    events: [],
    note(event) {
      call.events.push(event)
      told?.()
    },
    async until(count) {
      while (call.events.length < count) await new Promise<void>((resolve) => (told = resolve))
    },
    async gets(piece, count = 1) {
      origin.write(piece, 'latin1')
      await call.until(count)
      return call.events.splice(0)
    },
    async idle(piece = '') {
      const before = socket.bytesRead
      origin.write(piece, 'latin1')
      for (let turns = 0; turns < 20 || socket.bytesRead < before + piece.length; turns++) {
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    sink: {
      source: null,
      write: (chunk) => call.note(`bytes ${chunk.toString('latin1')}`),
      takesFramed: true,
      writeFramed: (framed, dataAt) => (call.note(`framed ${dataAt} ${framed}`), true),
      flush: () => !call.isFull,
      end: () => call.note('end'),
      abort: () => call.note('abort'),
      ...changes,
    },
    async [Symbol.asyncDispose]() {
      socket.destroy()
      origin.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  const request = { method: 'GET', target: '/', authority: 'a', headers: new HeaderBlock(), body: emptySource }
  const begun = new Promise<void>((resolve) => {
    connection.send(
      { ...request, upgrade: '', teTrailers: false },
      {
        informed: () => {},
        responded: ({ body }) => {
          wrap(body).pipe(call.sink)
          resolve()
        },
        upgraded: () => {},
        failed: (error) => call.note(`failed ${error.code}`),
      },
    )
  })
  origin.write(HEAD)
  await begun
  return call
}
