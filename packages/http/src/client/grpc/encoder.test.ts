import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { encoderOf } from './encoder.ts'

const write = (text: string, writer: BinaryWriter): BinaryWriter => {
  writer.tag(1, 2).fork().tag(1, 2)
  if (text === 'bad') throw new Error('it cannot be written')
  return writer.string(text).join()
}

test('messages are those of a writer of their own, also after a long one and after one that failed', () => {
  const encode = encoderOf(write)
  const texts = ['a', 'b'.repeat(200), 'c'.repeat(100_000), '', 'd']
  const written = texts.flatMap((text) => {
    assert.throws(() => encode('bad'), /cannot be written/)
    return [encode(text), encode(text)]
  })
  const expected = texts.flatMap((text) => {
    const alone = write(text, new BinaryWriter()).finish()
    return [alone, alone]
  })
  // Compared after all messages are written: no message may have changed another.
  assert.deepEqual(written, expected)
})
