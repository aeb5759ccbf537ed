import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A client that sends exactly the given bytes, for tests of invalid input. */
export class FrameClient {
  readonly frames: Frame[] = []
  readonly socket: Socket
  closed = false
  #input = Buffer.alloc(0)
  #wake: (() => void)[] = []

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
      this.#notify()
    })
  }

  static async open(port: number, settings: Buffer = Buffer.alloc(0)): Promise<FrameClient> {
    const socket = connect({ port, host: '127.0.0.1' })
    await once(socket, 'connect')
    return FrameClient.over(socket, settings)
  }

  /** Starts HTTP/2 on an open connection. */
  static over(socket: Socket, settings: Buffer = Buffer.alloc(0)): FrameClient {
    const client = new FrameClient(socket)
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
    client.send(SETTINGS, 0, 0, settings)
    return client
  }

  send(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): void {
    this.socket.write(frame(type, flags, stream, payload))
  }

  headers(stream: number, fields: [string, string][], flags: number = END_HEADERS | END_STREAM): void {
    this.send(HEADERS, flags, stream, literalFields(fields))
  }

  /**
   * Resolves with the first matching frame, including frames that have already arrived; null when the connection ends
   * first.
   */
  async wait(matches: (frame: Frame) => boolean): Promise<Frame | null> {
    for (;;) {
      const found = this.frames.find(matches)
      if (found !== undefined) return found
      if (this.closed) return null
      await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
  }

  /** Returns the outcome of a stream: `status 400`, `reset 1`, or `closed` when the connection ended. */
  async outcome(stream: number): Promise<string> {
    const answer = await this.wait(
      (frame) =>
        (frame.stream === stream && (frame.type === HEADERS || frame.type === RST_STREAM)) || isBadGoaway(frame),
    )
    if (answer === null) return 'closed'
    if (answer.type === GOAWAY) return `goaway ${answer.payload.readUInt32BE(4)}`
    if (answer.type === RST_STREAM) return `reset ${answer.payload.readUInt32BE(0)}`
    return `status ${STATUS_BY_INDEX[answer.payload[0]!] ?? 'other'}`
  }

  destroy(): void {
    this.socket.destroy()
  }

  #receive(chunk: Buffer): void {
    this.#input = Buffer.concat([this.#input, chunk])
    while (this.#input.length >= 9) {
      const size = this.#input.readUIntBE(0, 3)
      if (this.#input.length < 9 + size) break
      const received: Frame = {
        type: this.#input[3]!,
        flags: this.#input[4]!,
        stream: this.#input.readUInt32BE(5) & 0x7fffffff,
        payload: this.#input.subarray(9, 9 + size),
      }
      this.#input = this.#input.subarray(9 + size)
      if (received.type === SETTINGS && (received.flags & ACK) === 0) this.send(SETTINGS, ACK, 0)
      if (received.type === PING && (received.flags & ACK) === 0) this.send(PING, ACK, 0, received.payload)
      this.frames.push(received)
    }
    this.#notify()
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }
}

export interface Frame {
  type: number
  flags: number
  stream: number
  payload: Buffer
}

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Encodes HPACK without tables or Huffman codes: every field is a literal without indexing. */
export function literalFields(fields: [string, string][]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]))
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const size = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest >>>= 7) size.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([...size, rest]), bytes])
}

function isBadGoaway(frame: Frame): boolean {
  return frame.type === GOAWAY && frame.payload.readUInt32BE(4) !== 0
}

export const DATA = 0
export const HEADERS = 1
export const PRIORITY = 2
export const RST_STREAM = 3
export const SETTINGS = 4
export const PING = 6
export const GOAWAY = 7
export const WINDOW_UPDATE = 8
export const CONTINUATION = 9
export const END_STREAM = 1
export const ACK = 1
export const END_HEADERS = 4

/** The entries of the static table that contain a status. */
const STATUS_BY_INDEX: Record<number, number> = {
  0x88: 200,
  0x89: 204,
  0x8a: 206,
  0x8b: 304,
  0x8c: 400,
  0x8d: 404,
  0x8e: 500,
}
