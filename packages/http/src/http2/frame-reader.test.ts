import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FrameReader } from './frame-reader.ts'
import { DATA, END_STREAM, HEADERS, PADDED, PING, SETTINGS } from './frames.ts'
import { type Frame, frame } from '../testing/frame-client.ts'

const LIMITS = { maxFrame: 1_000, maxWhole: 300 }

type FrameOrError = Frame | 'too long'

/** Returns the frames that the reader finds in the pieces. */
function read(pieces: Buffer[]): FrameOrError[] {
  const seen: FrameOrError[] = []
  const receiver = {
    frame: (type: number, flags: number, stream: number, bytes: Buffer, start: number, end: number) =>
      seen.push({ type, flags, stream, payload: Buffer.from(bytes.subarray(start, end)) }),
    frameTooLong: () => seen.push('too long'),
  }
  const reader = new FrameReader(receiver, LIMITS)
  for (const piece of pieces) reader.feed(piece, 0, piece.length)
  return joined(seen)
}

/** Joins DATA of one stream, which is the same in one frame or in several. */
function joined(frames: FrameOrError[]): FrameOrError[] {
  const result: FrameOrError[] = []
  for (const one of frames) {
    const before = result.at(-1)
    const isRest =
      before !== undefined && before !== 'too long' && one !== 'too long' && isPlain(before) && isPlain(one)
    if (!isRest || before.stream !== one.stream || (before.flags & END_STREAM) !== 0) result.push(one)
    else result[result.length - 1] = { ...one, payload: Buffer.concat([before.payload, one.payload]) }
  }
  return result
}

function isPlain({ type, flags }: Frame): boolean {
  return type === DATA && (flags & PADDED) === 0
}

const session: Frame[] = [
  { type: SETTINGS, flags: 0, stream: 0, payload: Buffer.alloc(12, 1) },
  { type: HEADERS, flags: 4, stream: 1, payload: Buffer.alloc(250, 2) },
  { type: DATA, flags: END_STREAM, stream: 1, payload: Buffer.alloc(300, 3) },
  { type: DATA, flags: PADDED, stream: 3, payload: Buffer.alloc(100, 4) },
  { type: PING, flags: 0, stream: 0, payload: Buffer.alloc(8, 5) },
  { type: DATA, flags: END_STREAM, stream: 2 ** 31 - 1, payload: Buffer.alloc(0) },
  { type: 200, flags: 255, stream: 5, payload: Buffer.alloc(0) },
]
const bytes = Buffer.concat(session.map(({ type, flags, stream, payload }) => frame(type, flags, stream, payload)))

test('frames are the same wherever the bytes are split', () => {
  assert.deepEqual(read([bytes]), session)
  for (let at = 1; at < bytes.length; at++) {
    assert.deepEqual(read([bytes.subarray(0, at), bytes.subarray(at)]), session, `split at ${at}`)
  }
})

test('the payload of DATA is handed on as it comes, and the end only with the last byte', () => {
  const parts: [number, number][] = []
  const reader = new FrameReader(
    {
      frame: (_type, flags, _stream, _bytes, start, end) => parts.push([flags, end - start]),
      frameTooLong: assert.fail,
    },
    LIMITS,
  )
  const whole = frame(DATA, END_STREAM, 1, Buffer.alloc(5))
  for (const byte of whole) reader.feed(Buffer.from([byte]), 0, 1)
  assert.deepEqual(parts, [
    [0, 1],
    [0, 1],
    [0, 1],
    [0, 1],
    [END_STREAM, 1],
  ])
})

test('the reserved bit of a stream number is ignored', () => {
  const odd = frame(PING, 0, 0, Buffer.alloc(8))
  odd[5] = 0x80
  assert.deepEqual(read([odd]), [{ type: PING, flags: 0, stream: 0, payload: Buffer.alloc(8) }])
})

test('a frame over its limit is refused by its head, and nothing is read after it', () => {
  const after = frame(PING, 0, 0, Buffer.alloc(8))
  for (const [type, length] of [
    [DATA, 1_001],
    [HEADERS, 301],
    [99, 301],
  ] as const) {
    const long = frame(type, 0, 1, Buffer.alloc(length))
    assert.deepEqual(read([Buffer.concat([long, after])]), ['too long'])
    assert.deepEqual(read([long.subarray(0, 3), long.subarray(3, 9), after]), ['too long'])
  }
})

test('random bytes are the same frames in one piece and in many, and never throw', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }), (arrays) => {
      // Mostly small numbers, or only the first length would ever be read.
      const pieces = arrays.map((array) => Buffer.from(array.map((byte) => (byte < 250 ? byte % 4 : byte))))
      const rest = (frames: FrameOrError[]): FrameOrError[] =>
        frames.filter((one) => one === 'too long' || !isPlain(one))
      const [inMany, inOne] = [read(pieces), read([Buffer.concat(pieces)])]
      assert.deepEqual(rest(inMany), rest(inOne))
      assert.deepEqual(bodies(inMany), bodies(inOne))
    }),
    { seed: 7, numRuns: 2_000 },
  )
})

/** All DATA of each stream, in the order of the streams' first frames that were not empty. */
function bodies(frames: FrameOrError[]): Map<number, string> {
  const result = new Map<number, string>()
  for (const one of frames) {
    if (one === 'too long' || !isPlain(one) || one.payload.length === 0) continue
    result.set(one.stream, (result.get(one.stream) ?? '') + one.payload.toString('hex'))
  }
  return result
}
