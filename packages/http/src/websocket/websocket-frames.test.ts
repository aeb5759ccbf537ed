import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CloseFrameFinder, payloadLength } from './websocket-frames.ts'

function frame(opcode: number, size: number, isMasked: boolean): Buffer {
  const mask = isMasked ? 0x80 : 0
  const length =
    size < 126 ? Buffer.from([mask | size]) : size < 65_536 ? Buffer.from([mask | 126, 0, 0]) : Buffer.alloc(9)
  if (size >= 65_536) {
    length.writeUInt8(mask | 127)
    length.writeBigUInt64BE(BigInt(size), 1)
  } else if (size >= 126) length.writeUInt16BE(size, 1)
  // The payload and the masking key look like Close frames.
  return Buffer.concat([Buffer.from([0x80 | opcode]), length, Buffer.alloc((isMasked ? 4 : 0) + size, 0x88)])
}

describe('the Close frame of a WebSocket', () => {
  for (const isMasked of [false, true]) {
    for (const size of [0, 1, 125, 126, 65_535, 65_536]) {
      it(`is found behind a ${isMasked ? 'masked ' : ''}message of ${size} bytes, and not inside of it`, () => {
        const message = frame(2, size, isMasked)
        for (const step of [1, 7, message.length + 64]) {
          const finder = new CloseFrameFinder()
          const feed = (bytes: Buffer): void => {
            for (let at = 0; at < bytes.length; at += step) finder.push(bytes.subarray(at, at + step))
          }
          feed(message)
          feed(frame(9, 4, isMasked))
          assert.equal(finder.hasClosed, false, `pieces of ${step}`)
          feed(frame(8, 2, isMasked))
          assert.equal(finder.hasClosed, true, `pieces of ${step}`)
        }
      })
    }
  }
})

it('the length of a payload is read in all of its forms', () => {
  const headOf = (size: number): Buffer => {
    if (size < 2 ** 32) return frame(2, size, true).subarray(0, 10)
    const head = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0, 0, 0])
    head.writeBigUInt64BE(BigInt(size), 2)
    return head
  }
  for (const size of [0, 125, 126, 65_535, 65_536, 2 ** 32, 3 * 2 ** 32 + 5])
    assert.equal(payloadLength(headOf(size)), size)
})
