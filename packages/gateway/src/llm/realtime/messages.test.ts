import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { WebSocketMessages } from './messages.ts'

const MAX = 64

/** The messages read from bytes in these pieces. */
function read(pieces: readonly Buffer[], maxBytes = MAX): string[] {
  const seen: string[] = []
  const messages = new WebSocketMessages(
    {
      text: (bytes) => seen.push(`text ${bytes.toString('latin1')}`),
      skipped: () => seen.push('skipped'),
      lost: () => seen.push('lost'),
    },
    maxBytes,
  )
  for (const piece of pieces) messages.push(piece)
  return seen
}

function frame(opcode: number, payload: Buffer | string, { fin = true, reserved = 0, mask = false } = {}): Buffer {
  const bytes = Buffer.from(payload)
  const first = (fin ? 0x80 : 0) | reserved | opcode
  const masked = mask ? 0x80 : 0
  const { length } = bytes
  if (length < 126) return Buffer.concat([Buffer.from([first, masked | length]), bytes])
  const head = Buffer.alloc(length < 65_536 ? 4 : 10)
  head[0] = first
  head[1] = masked | (length < 65_536 ? 126 : 127)
  if (length < 65_536) head.writeUInt16BE(length, 2)
  else head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, bytes])
}

const TEXT = 1
const BINARY = 2
const PING = 9

describe('messages of a WebSocket', () => {
  it('are read whole, in frames and between pings', () => {
    const bytes = [
      frame(TEXT, 'one'),
      frame(TEXT, 'tw', { fin: false }),
      frame(PING, 'are you there'),
      frame(0, 'o', { fin: false }),
      frame(0, ''),
      frame(TEXT, ''),
      frame(BINARY, 'nothing to read'),
      frame(8, '\x03\xe8'),
    ]
    assert.deepEqual(read(bytes), ['text one', 'text two', 'text '])
  })

  it('with every form of the length field are read', () => {
    for (const length of [0, 125, 126, 65_535, 65_536, 70_000]) {
      const text = 'x'.repeat(length)
      assert.deepEqual(read([frame(TEXT, text)], 100_000), [`text ${text}`])
    }
  })

  it('that are too large are passed over, in one frame or in many', () => {
    const large = 'x'.repeat(MAX + 1)
    const pieces = Array.from({ length: MAX }, () => frame(0, 'y', { fin: false }))
    const bytes = [
      frame(TEXT, large),
      frame(TEXT, 'one'),
      frame(TEXT, 'yy', { fin: false }),
      ...pieces,
      frame(0, ''),
      frame(TEXT, 'two'),
    ]
    assert.deepEqual(read(bytes), ['skipped', 'text one', 'skipped', 'text two'])
    assert.deepEqual(read([frame(TEXT, 'x'.repeat(MAX))]), [`text ${'x'.repeat(MAX)}`])
  })

  it('that an extension packed are passed over', () => {
    const packed = frame(TEXT, 'pack', { reserved: 0x40, fin: false })
    assert.deepEqual(read([packed, frame(0, 'ed'), frame(TEXT, 'plain')]), ['skipped', 'text plain'])
  })

  const nonsense: [string, Buffer[]][] = [
    ['a continuation of nothing', [frame(0, 'x')]],
    ['a message within a message', [frame(TEXT, 'x', { fin: false }), frame(TEXT, 'y')]],
    ['an unknown kind of frame', [frame(3, 'x')]],
    ['an unknown control frame', [frame(11, 'x')]],
    ['a ping in parts', [frame(PING, 'x', { fin: false })]],
    ['a ping of 126 bytes', [frame(PING, 'x'.repeat(126))]],
    ['a masked frame', [frame(TEXT, 'x', { mask: true })]],
    ['a length beyond all numbers', [Buffer.from([0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255])]],
  ]
  for (const [name, bytes] of nonsense) {
    it(`end with ${name}, and that is said once`, () => {
      assert.deepEqual(read([frame(TEXT, 'a'), ...bytes, frame(TEXT, 'b'), ...bytes]), ['text a', 'lost'])
    })
  }

  it('are the same however the bytes are cut', () => {
    const part = fc.string({ maxLength: 20, unit: 'grapheme-ascii' })
    const message = fc.record({
      parts: fc.array(part, { minLength: 1, maxLength: 4 }),
      ping: fc.boolean(),
      packed: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), fc.array(fc.nat(40)), (sent, cuts) => {
        const bytes = Buffer.concat(
          sent.flatMap(({ parts, ping, packed }) =>
            parts.flatMap((text, index) => [
              ...(ping ? [frame(PING, 'p')] : []),
              frame(index === 0 ? TEXT : 0, text, {
                fin: index === parts.length - 1,
                reserved: packed && index === 0 ? 0x40 : 0,
              }),
            ]),
          ),
        )
        const expected = sent.map(({ parts, packed }) => {
          const text = parts.join('')
          return packed || text.length > MAX ? 'skipped' : `text ${text}`
        })
        assert.deepEqual(read(cut(bytes, cuts)), expected)
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  it('never throw, and are never kept beyond their bound, whatever comes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(9)), (bytes, cuts) => {
        for (const seen of read(cut(Buffer.from(bytes), cuts), 16)) assert.ok(seen.length <= 'text '.length + 16)
      }),
      { seed: 2, numRuns: 2_000 },
    )
  })
})

function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  let at = 0
  for (const length of lengths) {
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return [...pieces, bytes.subarray(at)]
}
