import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import * as fc from 'fast-check'
import type { Sink } from '@portico/http'
import { EventBody, eventRecord } from './event-body.ts'

/** A sink that takes so many chunks before it asks to wait. */
class Reader implements Sink {
  source: Sink['source'] = null
  readonly taken: string[] = []
  ended = 0
  flushed = 0
  aborted: Error | null = null
  room: number

  constructor(room: number) {
    this.room = room
  }

  write(chunk: Buffer): void {
    this.taken.push(chunk.toString())
    this.room -= 1
  }

  flush(): boolean {
    this.flushed += 1
    return this.room > 0
  }

  end(): void {
    this.ended += 1
  }

  abort(cause: Error): void {
    this.aborted = cause
  }

  takeMore(room: number): void {
    this.room = room
    this.source!.resume()
  }
}

function newBody() {
  const heard: string[] = []
  const body = new EventBody({ resumed: () => heard.push('resumed'), cancelled: () => heard.push('cancelled') })
  return { body, heard }
}

describe('a body of events', () => {
  test('gives everything once and in order, whenever it comes and however slowly it is read', () => {
    const step = fc.oneof(
      fc.constant({ push: true }),
      fc.integer({ min: 1, max: 4 }).map((room) => ({ room })),
      fc.constant({ pipe: true }),
    )
    fc.assert(
      fc.property(fc.array(step), fc.nat(3), (steps, room) => {
        const { body } = newBody()
        const reader = new Reader(room)
        let count = 0
        for (const each of steps) {
          if ('push' in each) body.push(`${(count += 1)}`)
          else if ('pipe' in each && reader.source === null) body.pipe(reader)
          else if ('room' in each && reader.source !== null) reader.takeMore(each.room)
        }
        body.end()
        if (reader.source === null) body.pipe(reader)
        reader.takeMore(Infinity)
        reader.takeMore(Infinity)
        assert.deepEqual(
          reader.taken,
          Array.from({ length: count }, (_, at) => `${at + 1}`),
        )
        assert.equal(reader.ended, 1)
        assert.equal(body.waitingBytes, 0)
      }),
    )
  })

  it('says when the reader is slow, and keeps what comes all the same', () => {
    const { body, heard } = newBody()
    const reader = new Reader(2)
    body.pipe(reader)
    assert.deepEqual([body.push('a'), body.push('b'), body.push('c')], [true, false, false])
    assert.deepEqual([reader.taken, body.waitingBytes], [['a', 'b'], 1])
    heard.length = 0
    reader.takeMore(2)
    assert.deepEqual([reader.taken, heard], [['a', 'b', 'c'], ['resumed']])
  })

  it('sends its head before anything is said, where that is wanted', () => {
    for (const isEarly of [true, false]) {
      const { body } = newBody()
      const reader = new Reader(5)
      if (isEarly) body.open()
      body.pipe(reader)
      if (!isEarly) body.open()
      assert.deepEqual([reader.flushed, reader.taken], [1, []])
    }
  })

  it('reports once that its reader left, and drops later events', () => {
    const { body, heard } = newBody()
    body.pipe(new Reader(0))
    body.push('a')
    heard.length = 0
    body.cancel(new Error('gone'))
    body.cancel(new Error('gone'))
    body.push('b')
    body.end()
    assert.deepEqual([heard, body.waitingBytes], [['cancelled'], 0])
  })

  it('that is cut does not look ended', () => {
    const { body } = newBody()
    const reader = new Reader(1)
    body.pipe(reader)
    body.abort(new Error('slow'))
    assert.deepEqual([reader.ended, reader.aborted?.message], [0, 'slow'])
  })
})

describe('an event', () => {
  it('has its data on as many lines as that has', () => {
    assert.equal(eventRecord('{\n"a":1\r\n}', 'x'), 'event: message\nid: x\ndata: {\ndata: "a":1\ndata: }\n\n')
  })

  it('may be but a mark', () => assert.equal(eventRecord('', 'x', 50), 'id: x\nretry: 50\ndata: \n\n'))
})
