import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib'
import { spdyDictionary } from './dictionary.ts'

/** A frame of SPDY/3.1; data frames have a stream id in place of a type. */
export type Frame =
  | { kind: 'control'; type: number; flags: number; body: Buffer }
  | { kind: 'data'; stream: number; flags: number; body: Buffer }

export const frameType = { open: 1, reply: 2, reset: 3, ping: 6, goAway: 7 } as const
/** The flag of the last frame of a stream. */
export const FIN = 1
const VERSION = 0x8003
const HEAD_BYTES = 8

/** Splits the bytes into complete frames, and the rest. */
export function takeFrames(bytes: Buffer): { frames: Frame[]; rest: Buffer } {
  const frames: Frame[] = []
  let at = 0
  while (bytes.length - at >= HEAD_BYTES) {
    const end = at + HEAD_BYTES + bytes.readUIntBE(at + 5, 3)
    if (end > bytes.length) break
    const [flags, body] = [bytes.readUInt8(at + 4), bytes.subarray(at + HEAD_BYTES, end)]
    const first = bytes.readUInt32BE(at)
    const isControl = first >>> 31 === 1
    frames.push(
      isControl ? { kind: 'control', type: first & 0xffff, flags, body } : { kind: 'data', stream: first, flags, body },
    )
    at = end
  }
  return { frames, rest: bytes.subarray(at) }
}

export function controlFrame(type: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt16BE(VERSION)
  head.writeUInt16BE(type, 2)
  head.writeUInt32BE(body.length, 4)
  head.writeUInt8(flags, 4)
  return Buffer.concat([head, body])
}

export function dataFrame(stream: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(stream)
  head.writeUInt32BE(body.length, 4)
  head.writeUInt8(flags, 4)
  return Buffer.concat([head, body])
}

/** Larger writes are split, so that other streams get their turn. */
export const MOST_DATA_BYTES = 64 * 1024

/** Encodes headers: a count, then names and values, each after its length. */
export function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const texts = Object.entries(headers).flat()
  return Buffer.concat([number(texts.length / 2), ...texts.flatMap(lengthAndText)])
}

function lengthAndText(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  return [number(bytes.length), bytes]
}

export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function readHeaderBlock(block: Buffer): Map<string, string> {
  let at = 4
  const text = (): string => {
    const end = at + 4 + block.readUInt32BE(at)
    const value = block.toString('utf8', at + 4, end)
    at = end
    return value
  }
  return new Map(Array.from({ length: block.readUInt32BE(0) }, () => [text().toLowerCase(), text()]))
}

/** Compresses header blocks; all blocks of one direction are one zlib stream, flushed after each block. */
export function headerCompressor(): (block: Buffer) => Promise<Buffer> {
  return inPieces(createDeflate({ dictionary: spdyDictionary() }))
}

export function headerReader(): (block: Buffer) => Promise<Buffer> {
  return inPieces(createInflate({ dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH }))
}

function inPieces(codec: Deflate | Inflate): (block: Buffer) => Promise<Buffer> {
  let parts: Buffer[] = []
  codec.on('data', (part: Buffer) => parts.push(part))
  return (block) =>
    new Promise((resolve, reject) => {
      codec.once('error', reject)
      codec.write(block, () =>
        codec.flush(constants.Z_SYNC_FLUSH, () => {
          codec.off('error', reject)
          const whole = Buffer.concat(parts)
          parts = []
          resolve(whole)
        }),
      )
    })
}
