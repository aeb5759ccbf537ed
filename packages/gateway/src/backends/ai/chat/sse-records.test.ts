import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { SseRecords } from './sse-records.ts'

test('records end with an empty line, of whichever kind, wherever the stream is cut', () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'é', '\r', ':') }).map((text) => `d${text}`)
  const record = fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 3 }),
    end: fc.constantFrom('\n', '\r\n'),
  })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 4 }), line, fc.array(fc.nat()), (records, rest, cuts) => {
      const texts = records.map(({ lines, end }) => lines.map((each) => each + end).join('') + end)
      const bytes = Buffer.from(texts.join('') + rest)
      const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
      const reader = new SseRecords()
      const found = edges.slice(1).flatMap((edge, at) => reader.push(bytes.subarray(edges[at], edge)).map(String))
      assert.deepEqual(found, texts)
      assert.equal(reader.heldLength, Buffer.byteLength(rest))
      assert.equal(String(reader.end()), rest)
      assert.equal(reader.heldLength, 0)
    }),
  )
})

test('held bytes are a copy', () => {
  const reader = new SseRecords()
  const chunk = Buffer.from('data: 1')
  reader.push(chunk)
  chunk.fill('x')
  assert.deepEqual(reader.push(Buffer.from('\n\n')).map(String), ['data: 1\n\n'])
})
