import { crc32 } from 'node:zlib'

/**
 * A record in a file. Frames follow one another, so a crash during a write loses only the last record. Layout: u32 length of
 * the bytes after the checksum, u32 CRC-32 of these bytes, u32 key and 8 bytes prefix of the record names, u8 length of the
 * worker's name, the name, the record as in memory.
 */
interface Frame {
  readonly prefix: string
  readonly key: number
  readonly worker: string
  readonly entry: Buffer
}

export function frameOf({ prefix, key, worker, entry }: Frame): Buffer {
  const name = Buffer.from(worker.slice(0, 255), 'latin1')
  const frame = Buffer.alloc(HEAD + OWNER + name.length + entry.length)
  frame.writeUInt32LE(frame.length - HEAD, 0)
  frame.writeUInt32LE(key, HEAD)
  frame.write(prefix, HEAD + 4, 8, 'latin1')
  frame.writeUInt8(name.length, HEAD + 12)
  name.copy(frame, HEAD + OWNER)
  entry.copy(frame, HEAD + OWNER + name.length)
  frame.writeUInt32LE(crc32(frame.subarray(HEAD)), 4)
  return frame
}

/** Returns the frames up to the first broken frame; the bytes after it cannot be interpreted. */
export function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at + HEAD + OWNER <= bytes.length;) {
    const end = at + HEAD + bytes.readUInt32LE(at)
    if (end > bytes.length || end < at + HEAD + OWNER) break
    const content = bytes.subarray(at + HEAD, end)
    if (crc32(content) !== bytes.readUInt32LE(at + 4)) break
    const nameEnd = OWNER + content.readUInt8(12)
    frames.push({
      key: content.readUInt32LE(0),
      prefix: content.toString('latin1', 4, 12),
      worker: content.toString('latin1', OWNER, nameEnd),
      entry: content.subarray(nameEnd),
    })
    at = end
  }
  return frames
}

const HEAD = 8
const OWNER = 13
