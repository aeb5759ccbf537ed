import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { EventReader } from './event-reader.ts'

test('events are the same wherever their stream is cut', () => {
  const stream = ': ready\n\ndata: {"a":1}\n\n: keepalive\n\ndata:b\ndata: c\n\nevent: x\n\ndata: \n\n'
  fc.assert(
    fc.property(fc.array(fc.nat({ max: stream.length })), (places) => {
      const reader = new EventReader()
      const cuts = [0, ...places.toSorted((a, b) => a - b), stream.length]
      const found = cuts.slice(1).flatMap((to, i) => reader.read(stream.slice(cuts[i], to)))
      assert.deepEqual(found, ['{"a":1}', 'b\nc', ''])
    }),
  )
})

test('an incomplete event waits', () => {
  const reader = new EventReader()
  assert.deepEqual(reader.read('data: 1\n'), [])
  assert.deepEqual(reader.read('\ndata: 2'), ['1'])
})
