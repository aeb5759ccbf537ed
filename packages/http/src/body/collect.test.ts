import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Sink, type Source, sourceOf } from './body.ts'
import { collect } from './collect.ts'

/** A body that the test writes. */
function setUp(limit: number, afterwards = () => {}) {
  let sink: Sink | null = null
  const cancelled: string[] = []
  const body: Source = {
    length: -1,
    pipe: (next) => void (sink = next),
    resume: () => {},
    cancel: ({ message }) => void cancelled.push(message),
  }
  const results: [string | null, string | null][] = []
  collect(body, limit, (bytes, cause) => {
    results.push([bytes?.toString() ?? null, cause?.message ?? null])
    afterwards()
  })
  assert.ok(sink !== null)
  return { sink: sink as Sink, cancelled, results }
}

test('a body is read whole', () => {
  const results: unknown[] = []
  collect(sourceOf(Buffer.from('text')), 4, (bytes, cause) => results.push(bytes?.toString(), cause))
  assert.deepEqual(results, ['text', null])
})

test('a body of exactly the limit is read, in pieces that are copied', () => {
  const { sink, results, cancelled } = setUp(6)
  const shared = Buffer.from('abc')
  sink.write(shared)
  assert.equal(sink.flush(), true)
  shared.write('def')
  sink.write(shared)
  assert.equal(sink.flush(), true)
  sink.end(null)
  assert.deepEqual([results, cancelled], [[['abcdef', null]], []])
})

test('a body beyond the limit is given up at once, and told of once', () => {
  const { sink, results, cancelled } = setUp(3)
  sink.write(Buffer.from('abcd'))
  assert.equal(sink.flush(), true)
  assert.deepEqual([results, cancelled], [[[null, null]], ['the body is too large']])
  sink.abort(new Error('late'))
  assert.equal(results.length, 1)
})

test('a body that ends beyond the limit before anybody looked is refused too', () => {
  const { sink, results } = setUp(3)
  sink.write(Buffer.from('abcd'))
  sink.end(null)
  assert.deepEqual(results, [[null, null]])
})

test('a body that breaks off is told of with the cause', () => {
  const { sink, results } = setUp(3)
  sink.write(Buffer.from('ab'))
  sink.abort(new Error('cut'))
  assert.deepEqual(results, [[null, 'cut']])
})

test('a consumer that throws is told once more, by the abort that follows', () => {
  const { sink, results } = setUp(3, () => {
    throw new Error('a fault')
  })
  sink.write(Buffer.from('ab'))
  assert.throws(() => sink.end(null), /a fault/)
  assert.throws(() => sink.abort(new Error('internal fault')), /a fault/)
  sink.abort(new Error('late'))
  assert.deepEqual(results, [
    ['ab', null],
    [null, 'internal fault'],
  ])
})
