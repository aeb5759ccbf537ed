import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { SEPARATOR } from './layout.ts'
import { createPreamble, putPreamble, putTexts, roomFor } from './record-writer.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

test('texts come into shared memory as they are joined, whatever they have in them', () => {
  const any = fc.oneof(
    fc.string({ maxLength: 120 }),
    fc.string({ unit: anyCharacter, maxLength: 200 }),
    fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀'), maxLength: 700 }),
  )
  fc.assert(
    fc.property(any, fc.array(any, { minLength: 1, maxLength: 8 }), (place, texts) => {
      const preamble = createPreamble(place)
      const room = preamble.bytes + roomFor(texts)
      const memory = new SharedArrayBuffer(64 + (room + 3) - ((room + 3) % 4))
      const bytes = Buffer.from(memory)
      putPreamble(new Uint32Array(memory), 15, preamble)
      const end = putTexts(bytes, 60 + preamble.bytes, texts)
      assert.ok(end <= 60 + room, 'the room was enough')
      assert.ok(bytes.subarray(60, end).equals(Buffer.from(place + texts.join(SEPARATOR))))
    }),
    { numRuns: 1000 },
  )
})
