import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { frame, MessageReader } from './framing.ts'

function readAll(reader: MessageReader, chunks: readonly Buffer[]): { messages: Buffer[]; problem: string | null } {
  const messages: Buffer[] = []
  for (const chunk of chunks) {
    const problem = reader.push(chunk, (message) => messages.push(message))
    if (problem !== null) return { messages, problem: problem.message }
  }
  return { messages, problem: null }
}

/** Cuts at any position; pieces may be empty. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

test('messages come out as they went in, however the bytes are cut', () => {
  const given = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 })
  fc.assert(
    fc.property(given, fc.array(fc.nat(), { maxLength: 12 }), (messages, places) => {
      const reader = new MessageReader(300)
      const all = readAll(reader, cut(Buffer.concat(messages.map(frame)), places))
      assert.equal(all.problem, null)
      assert.deepEqual(
        all.messages,
        messages.map((message) => Buffer.from(message)),
      )
      assert.equal(reader.isPartial, false)
    }),
    { numRuns: 500 },
  )
})

test('any bytes are messages, the beginning of one, or a problem', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat(), { maxLength: 5 }), (bytes, places) => {
      const whole = readAll(new MessageReader(20), [Buffer.from(bytes)])
      const pieces = readAll(new MessageReader(20), cut(Buffer.from(bytes), places))
      assert.deepEqual(pieces, whole)
      for (const message of whole.messages) assert.ok(message.length <= 20)
    }),
    { numRuns: 1000 },
  )
})

test('messages are not views of the chunk they came in', () => {
  const chunk = frame(Buffer.from('abc'))
  const { messages } = readAll(new MessageReader(10), [chunk])
  chunk.fill(0)
  assert.equal(messages[0]?.toString(), 'abc')
})

test('a message that is too long is refused by its length, before room is made for it', () => {
  const { problem } = readAll(new MessageReader(1000), [Buffer.from([0, 0xff, 0xff, 0xff, 0xff])])
  assert.equal(problem, 'a message of 4294967295 bytes is longer than 1000')
})
