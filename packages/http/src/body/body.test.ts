import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discardingSink, emptySource, isAtHand, type Sink, type Source, sourceOf } from './body.ts'
import { HeaderBlock } from '../fields/header-block.ts'

/** A reader that records what it got, and cancels after this many pieces. */
function reader(most = Infinity): Sink & { got: string[] } {
  const got: string[] = []
  const sink: Sink & { got: string[] } = {
    source: null,
    got,
    write(chunk) {
      got.push(chunk.toString())
      if (got.length >= most) sink.source?.cancel(new Error('enough'))
    },
    flush: () => true,
    end: (trailers) => void got.push(`end ${trailers?.get('x') ?? ''}`),
    abort: () => void got.push('abort'),
  }
  return sink
}

function read(body: Source, most?: number): string[] {
  const sink = reader(most)
  body.pipe(sink)
  return sink.got
}

test('a whole body is given once more each time it is asked for', () => {
  const body = sourceOf(Buffer.from('text'))
  assert.equal(body.length, 4)
  for (let time = 0; time < 2; time++) assert.deepEqual(read(body), ['text', 'end '])
})

test('a reader that gives a whole body up hears of no end, and the next reader gets all of it', () => {
  const body = sourceOf(Buffer.from('text'))
  assert.deepEqual(read(body, 1), ['text'])
  assert.deepEqual(read(body), ['text', 'end '])
})

test('trailers come with a body whose length nobody announced', () => {
  const body = sourceOf(Buffer.from('text'), HeaderBlock.of([['x', '1']]))
  assert.equal(body.length, -1)
  assert.deepEqual(read(body), ['text', 'end 1'])
  assert.equal(sourceOf(Buffer.alloc(0), HeaderBlock.of([['x', '1']])).length, -1)
})

test('a source without bytes is the empty source', () => {
  const body = sourceOf(Buffer.alloc(0))
  assert.equal(body, emptySource)
  assert.equal(body.length, 0)
  assert.deepEqual(read(body), ['end '])
})

test('a body is at hand when it is empty or whole', () => {
  const stream: Source = { length: -1, pipe: () => {}, resume: () => {}, cancel: () => {} }
  assert.deepEqual(
    [emptySource, sourceOf(Buffer.from('a')), stream, { ...stream, length: 5 }, { ...stream, whole: false }].map(
      isAtHand,
    ),
    [true, true, false, false, false],
  )
})

test('a discarded body is read to its end', () => {
  let ends = 0
  sourceOf(Buffer.from('text')).pipe(discardingSink(() => ends++))
  assert.equal(ends, 1)
  const sink = discardingSink(() => ends++)
  assert.equal(sink.flush(), true)
  sink.abort(new Error('cut'))
  assert.equal(ends, 2)
})
