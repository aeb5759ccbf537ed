import { randomBytes } from 'node:crypto'
import { Duplex } from 'node:stream'

const opcode = { more: 0, binary: 2, close: 8, ping: 9, pong: 10 } as const
const FIN = 0x80
const MASKED = 0x80
/** Larger writes are split, so that pongs get their turn. */
const MOST_FRAME_BYTES = 64 * 1024
const NORMAL_CLOSURE = Buffer.of(0x03, 0xe8)

/** The client side of a WebSocket (RFC 6455) whose binary messages form one byte stream. */
export class WebSocketStream extends Duplex {
  readonly #socket: Duplex
  /** Bytes of an incomplete frame head or control frame. */
  #rest: Buffer = Buffer.alloc(0)
  /** Bytes of the current data frame that are still to come. */
  #left = 0

  constructor(socket: Duplex, head: Buffer) {
    super()
    this.#socket = socket
    this.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => this.destroy())
    socket.on('close', () => this.destroy())
    socket.on('end', () => this.push(null))
    if (head.length > 0) this.#take(head)
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    for (let at = 0; at < chunk.length; at += MOST_FRAME_BYTES) {
      const part = chunk.subarray(at, at + MOST_FRAME_BYTES)
      this.#send(opcode.binary, part, at + MOST_FRAME_BYTES < chunk.length ? undefined : done)
    }
    if (chunk.length === 0) done()
  }

  override _final(done: () => void): void {
    this.#send(opcode.close, NORMAL_CLOSURE)
    this.#socket.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  #send(kind: number, payload: Buffer, done: () => void = () => undefined): void {
    if (this.#socket.writable) this.#socket.write(maskedFrame(kind, payload), () => done())
    else done()
  }

  #take(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = Buffer.alloc(0)
    while (bytes.length > 0 && !this.destroyed) {
      if (this.#left > 0) {
        const part = bytes.subarray(0, this.#left)
        this.#left -= part.length
        bytes = bytes.subarray(part.length)
        if (!this.push(part)) this.#socket.pause()
        continue
      }
      const head = readHead(bytes)
      if (head === 'wrong') return void this.destroy()
      const isControl = head !== null && head.kind >= opcode.close
      if (head === null || (isControl && bytes.length < head.size + head.length)) {
        this.#rest = bytes
        return
      }
      const end = isControl ? head.size + head.length : head.size
      if (isControl) this.#control(head.kind, bytes.subarray(head.size, end))
      else this.#left = head.length
      bytes = bytes.subarray(end)
    }
  }

  #control(kind: number, payload: Buffer): void {
    if (kind === opcode.ping) this.#send(opcode.pong, payload)
    if (kind !== opcode.close) return
    this.#send(opcode.close, payload.subarray(0, 2))
    this.push(null)
    this.#socket.end()
  }
}

interface Head {
  kind: number
  /** The length of the payload. */
  length: number
  /** The length of the head. */
  size: number
}

/** Parses a frame head: null when it is incomplete, `wrong` when it is invalid or belongs to a text message. */
function readHead(bytes: Buffer): Head | null | 'wrong' {
  if (bytes.length < 2) return null
  const [first, second] = [bytes.readUInt8(0), bytes.readUInt8(1)]
  const kind = first & 0x0f
  const isKnown = Object.values(opcode).some((known) => known === kind)
  const isControl = kind >= opcode.close
  const short = second & 0x7f
  if (!isKnown || (first & 0x70) !== 0 || (second & MASKED) !== 0) return 'wrong'
  if (isControl && ((first & FIN) === 0 || short > 125)) return 'wrong'
  if (short < 126) return { kind, length: short, size: 2 }
  const size = short === 126 ? 4 : 10
  if (bytes.length < size) return null
  const length = short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  return Number.isSafeInteger(length) ? { kind, length, size } : 'wrong'
}

/** Masks a frame, as clients must, so that proxies cannot misinterpret it. */
function maskedFrame(kind: number, payload: Buffer): Buffer {
  const { length } = payload
  const size = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.alloc(size + 4 + length)
  frame.writeUInt8(FIN | kind, 0)
  frame.writeUInt8(MASKED | (size === 2 ? length : size === 4 ? 126 : 127), 1)
  if (size === 4) frame.writeUInt16BE(length, 2)
  if (size === 10) frame.writeBigUInt64BE(BigInt(length), 2)
  const mask = randomBytes(4)
  frame.set(mask, size)
  for (let at = 0; at < length; at++) frame[size + 4 + at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0)
  return frame
}
