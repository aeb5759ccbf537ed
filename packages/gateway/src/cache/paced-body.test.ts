import type { Sink, Source } from '@portico/http'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { VirtualTime } from '../simulate/virtual-time.ts'
import { eventEndOf, PacedBody } from './paced-body.ts'

const SSE_TYPE = 'text/event-stream; charset=utf-8'

/** A reader that notes when each event arrives. */
class Reader implements Sink {
  source: Source | null = null
  readonly arrivals: { text: string; at: number }[] = []
  isReady = true
  endedAt = -1
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  write(chunk: Buffer): void {
    this.arrivals.push({ text: chunk.toString('latin1'), at: this.#now() })
  }

  flush(): boolean {
    return this.isReady
  }

  end(): void {
    this.endedAt = this.#now()
  }

  abort(cause: Error): void {
    throw cause
  }

  get text(): string {
    return this.arrivals.map(({ text }) => text).join('')
  }
}

function setUp(body: Buffer, pace = { eventsPerSecond: 10, maxDuration: 10_000 }, contentType = SSE_TYPE) {
  const time = new VirtualTime(0)
  const reader = new Reader(time.now)
  const eventEnd = eventEndOf(contentType)
  assert.ok(eventEnd)
  const paced = new PacedBody(body, eventEnd, { ...pace, deadlines: time.deadlines, contain: (run) => run() })
  paced.pipe(reader)
  return { time, reader, paced }
}

const sse = (count: number): string => Array.from({ length: count }, (_, at) => `data: ${at}\n\n`).join('')

/** Moves the clock from deadline to deadline until none is left. */
function finish(time: VirtualTime): void {
  while (time.deadlines.next !== Infinity) time.moveTo(time.deadlines.next)
}

describe('a paced stream', () => {
  test('sends the first event at once and the others at the rate', () => {
    const { time, reader } = setUp(Buffer.from(sse(4)))
    finish(time)
    assert.deepEqual(
      reader.arrivals.map(({ text, at }) => [text, at]),
      [0, 1, 2, 3].map((at) => [`data: ${at}\n\n`, at * 100]),
    )
    assert.equal(reader.endedAt, 300)
  })

  test('takes no longer than its maximum', () => {
    const { time, reader } = setUp(Buffer.from(sse(101)), { eventsPerSecond: 1, maxDuration: 2_000 })
    time.moveTo(1_000)
    assert.equal(reader.arrivals.length, 51)
    time.moveTo(2_000)
    assert.deepEqual([reader.arrivals.length, reader.endedAt], [101, 2_000])
    assert.equal(time.deadlines.next, Infinity)
  })

  test('is sent at once when the maximum is 0', () => {
    const { reader } = setUp(Buffer.from(sse(50)), { eventsPerSecond: 1, maxDuration: 0 })
    assert.deepEqual([reader.text, reader.endedAt], [sse(50), 0])
  })

  test('waits for a slow reader without a timer', () => {
    const { time, reader, paced } = setUp(Buffer.from(sse(3)))
    reader.isReady = false
    time.moveTo(100)
    assert.equal(reader.arrivals.length, 2)
    assert.equal(time.deadlines.next, Infinity)
    time.moveTo(900)
    reader.isReady = true
    paced.resume()
    assert.deepEqual([reader.text, reader.endedAt], [sse(3), 900])
  })

  test('stops when the client has left', () => {
    const { time, reader, paced } = setUp(Buffer.from(sse(3)))
    time.moveTo(100)
    paced.cancel()
    assert.equal(time.deadlines.next, Infinity)
    time.moveTo(10_000)
    paced.resume()
    assert.deepEqual([reader.arrivals.length, reader.endedAt], [2, -1])
  })

  test('consists of events, however lines end', () => {
    const events = ['data: a\n\n', '\n\ndata: b\n\n', 'event: c\r\ndata: c\r\n\r\n', ': d\r\r', 'data: cut']
    const { time, reader } = setUp(Buffer.from(events.join('')))
    finish(time)
    assert.deepEqual(
      reader.arrivals.map(({ text }) => text),
      events,
    )
  })

  test('consists of messages of the event stream of AWS, or of lines', () => {
    const message = (size: number): Buffer => {
      const bytes = Buffer.alloc(size, 1)
      bytes.writeUInt32BE(size)
      return bytes
    }
    const type = 'application/vnd.amazon.eventstream'
    const aws = setUp(Buffer.concat([message(16), message(300), Buffer.from([0, 0])]), undefined, type)
    finish(aws.time)
    assert.deepEqual(
      aws.reader.arrivals.map(({ text }) => text.length),
      [16, 300, 2],
    )
    const lines = setUp(Buffer.from('{"a":1}\n{"b":2}\n{'), undefined, 'application/x-ndjson')
    finish(lines.time)
    assert.deepEqual(
      lines.reader.arrivals.map(({ text }) => text),
      ['{"a":1}\n', '{"b":2}\n', '{'],
    )
  })

  test('loses no byte of any body, and always ends in time', () => {
    const bytes = fc.array(fc.constantFrom(...Buffer.from('data: \r\n\n\0\x10x')), { maxLength: 80 })
    const types = fc.constantFrom(SSE_TYPE, 'application/vnd.amazon.eventstream', 'application/x-ndjson')
    fc.assert(
      fc.property(bytes, types, fc.nat(500), (values, type, maxDuration) => {
        const body = Buffer.from(values)
        const { time, reader } = setUp(body, { eventsPerSecond: 7, maxDuration }, type)
        finish(time)
        assert.equal(reader.text, body.toString('latin1'))
        assert.ok(reader.endedAt >= 0 && reader.endedAt <= maxDuration)
      }),
    )
  })
})

test('bodies that are not streams of events are not paced', () => {
  assert.equal(eventEndOf('application/json'), null)
  assert.equal(eventEndOf(''), null)
})
