import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  controlFrame,
  dataFrame,
  type Frame,
  headerBlock,
  headerCompressor,
  headerReader,
  readHeaderBlock,
  takeFrames,
} from './frames.ts'

const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))
const flags = fc.integer({ min: 0, max: 255 })
const plain = { noNullPrototype: true }
const frame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ kind: fc.constant('control' as const), type: fc.integer({ min: 0, max: 0xffff }), flags, body }, plain),
  fc.record(
    { kind: fc.constant('data' as const), stream: fc.integer({ min: 0, max: 0x7fff_ffff }), flags, body },
    plain,
  ),
)

test('frames do not depend on the borders of the chunks they arrive in', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.integer({ min: 1, max: 40 }), (frames, size) => {
      const bytes = Buffer.concat(frames.map(encode))
      const taken: Frame[] = []
      let rest = Buffer.alloc(0)
      for (let at = 0; at < bytes.length; at += size) {
        const step = takeFrames(Buffer.concat([rest, bytes.subarray(at, at + size)]))
        taken.push(...step.frames)
        rest = Buffer.from(step.rest)
      }
      assert.deepEqual(taken, frames)
      assert.equal(rest.length, 0)
    }),
  )
})

test('any bytes are frames and a rest, and none of them are lost', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (any) => {
      const { frames, rest } = takeFrames(Buffer.from(any))
      const inFrames = frames.reduce((sum, { body: { length } }) => sum + 8 + length, 0)
      assert.equal(inFrames + rest.length, any.length)
    }),
  )
})

test('headers of one connection are read in the order in which they were written', async () => {
  const headers = fc.dictionary(fc.stringMatching(/^[a-z-]{1,20}$/), fc.string({ unit: 'grapheme' }), plain)
  await fc.assert(
    fc.asyncProperty(fc.array(headers, { maxLength: 5 }), async (blocks) => {
      const [compress, inflate] = [headerCompressor(), headerReader()]
      for (const block of blocks) {
        const read = readHeaderBlock(await inflate(await compress(headerBlock(block))))
        assert.deepEqual(Object.fromEntries(read), block)
      }
    }),
    { numRuns: 30 },
  )
})

function encode(one: Frame): Buffer {
  return one.kind === 'control'
    ? controlFrame(one.type, one.flags, one.body)
    : dataFrame(one.stream, one.flags, one.body)
}
