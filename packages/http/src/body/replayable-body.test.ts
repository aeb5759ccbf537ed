import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sink, Source } from './body.ts'
import { HeaderBlock } from '../fields/header-block.ts'
import { ReplayableBody } from './replayable-body.ts'

/** A body whose chunks the test delivers. */
class HandFed implements Source {
  readonly length: number
  sink: Sink | null = null
  cancelled = false
  resumes = 0

  constructor(length: number) {
    this.length = length
  }
  pipe(sink: Sink): void {
    this.sink = sink
    sink.source = this
  }
  resume(): void {
    this.resumes++
  }
  cancel(): void {
    this.cancelled = true
  }
  give(text: string): boolean {
    this.sink!.write(Buffer.from(text))
    return this.sink!.flush()
  }
}

class Attempt implements Sink {
  source: Source | null = null
  text = ''
  trailers: HeaderBlock | null = null
  ended = false
  aborted: Error | null = null

  write(chunk: Buffer): void {
    this.text += chunk.toString()
  }
  flush(): boolean {
    return true
  }
  end(trailers: HeaderBlock | null): void {
    this.ended = true
    this.trailers = trailers
  }
  abort(cause: Error): void {
    this.aborted = cause
  }
}

const GONE = new Error('gone')

function setUp(length = -1) {
  const body = new HandFed(length)
  const replayable = ReplayableBody.wrap(body)!
  const first = new Attempt()
  replayable.pipe(first)
  return { body, replayable, first }
}

test('a body that is known to be too large is not wrapped', () => {
  assert.notEqual(ReplayableBody.wrap(new HandFed(65_536)), null)
  assert.equal(ReplayableBody.wrap(new HandFed(65_537)), null)
})

test('a whole body is sent again with its trailers', () => {
  const { body, replayable, first } = setUp()
  const trailers = HeaderBlock.of([['x-sum', '1']])
  body.give('ab')
  body.give('cd')
  body.sink!.end(trailers)
  assert.deepEqual([first.text, first.ended, first.trailers], ['abcd', true, trailers])
  const second = new Attempt()
  replayable.rewind()
  replayable.pipe(second)
  assert.deepEqual([second.text, second.ended, second.trailers], ['abcd', true, trailers])
})

test('a body that is still arriving goes on in the next attempt', () => {
  const { body, replayable, first } = setUp()
  body.give('ab')
  replayable.cancel(GONE)
  replayable.rewind()
  const second = new Attempt()
  replayable.pipe(second)
  body.give('cd')
  body.sink!.end(null)
  assert.deepEqual([first.text, first.ended], ['ab', false])
  assert.deepEqual([second.text, second.ended], ['abcd', true])
  assert.equal(body.cancelled, false)
})

test('between attempts nothing is read', () => {
  const { body, replayable } = setUp()
  replayable.cancel(GONE)
  assert.equal(body.give('ab'), false)
  const second = new Attempt()
  replayable.rewind()
  replayable.pipe(second)
  assert.equal(second.text, 'ab')
  assert.equal(body.resumes, 1)
})

test('beyond the limit the beginning is gone, and giving up an attempt gives up the body', () => {
  const { body, replayable, first } = setUp()
  body.give('x'.repeat(65_536))
  assert.ok(replayable.whole)
  body.give('y')
  assert.ok(!replayable.whole)
  assert.equal(first.text.length, 65_537)
  replayable.cancel(GONE)
  assert.ok(body.cancelled)
})

test('once there is a response nothing is kept, and the upload goes on', () => {
  const { body, replayable, first } = setUp()
  body.give('ab')
  replayable.stopKeeping()
  assert.ok(!replayable.whole)
  assert.equal(body.cancelled, false)
  body.give('cd')
  assert.equal(first.text, 'abcd')
})

test('a body that no attempt reads any more is cancelled when it is settled', () => {
  const { body, replayable } = setUp()
  replayable.cancel(GONE)
  assert.equal(body.cancelled, false)
  replayable.stopKeeping()
  assert.ok(body.cancelled)
})

test('a body that breaks off breaks the attempt', () => {
  const { body, first } = setUp()
  body.sink!.abort(GONE)
  assert.equal(first.aborted, GONE)
})

test('a repeated part is delivered before more of the body comes, however small', () => {
  const { body, replayable, first } = setUp()
  assert.equal(replayable.whole, true)
  body.give('x')
  replayable.rewind()
  const flushed: string[] = []
  const again = new (class extends Attempt {
    override flush(): boolean {
      flushed.push(this.text)
      return true
    }
  })()
  replayable.pipe(again)
  assert.deepEqual([flushed, body.resumes], [['x'], 1])
  const untouched = setUp()
  untouched.replayable.rewind()
  untouched.replayable.pipe(again)
  assert.deepEqual([flushed.length, first.text], [1, 'x'])
})
