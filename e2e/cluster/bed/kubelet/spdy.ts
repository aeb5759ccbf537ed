import { Duplex } from 'node:stream'
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib'
import { spdyDictionary } from './spdy-dictionary.ts'

/** A stream that the other end has opened, with the headers it was opened with. */
export interface SpdyStream {
  headers: ReadonlyMap<string, string>
  stream: Duplex
}

const [SYN_STREAM, SYN_REPLY, RST_STREAM, PING, GOAWAY] = [1, 2, 3, 6, 7]
const FIN = 1
const VERSION = 0x8003

/** The serving end of SPDY/3.1 as kubelets speak it: streams that the other end opens, no windows, no pushes. */
export class SpdySession {
  readonly #socket: Duplex
  readonly #inflate = blocks(createInflate({ dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH }))
  readonly #deflate = blocks(createDeflate({ dictionary: spdyDictionary() }))
  readonly #streams = new Map<number, Duplex>()
  readonly #opened: (stream: SpdyStream) => void

  constructor(socket: Duplex, opened: (stream: SpdyStream) => void) {
    this.#socket = socket
    this.#opened = opened
    socket.on('error', () => this.#end())
    socket.on('close', () => this.#end())
  }

  /** Reads frames until the connection ends. */
  async run(): Promise<void> {
    try {
      for await (const [head, body] of framesOf(this.#socket)) await this.#take(head, body)
    } catch {
      // A connection that breaks is one that ends.
    }
    this.#end()
  }

  close(): void {
    this.#socket.end()
  }

  async #take(head: Buffer, body: Buffer): Promise<void> {
    const isControl = (head.readUInt8(0) & 0x80) !== 0
    const flags = head.readUInt8(4)
    if (!isControl) {
      const stream = this.#streams.get(head.readUInt32BE(0))
      if (body.length > 0) stream?.push(body)
      if ((flags & FIN) !== 0) stream?.push(null)
      return
    }
    const type = head.readUInt16BE(2)
    if (type === SYN_STREAM) await this.#open(body, flags)
    else if (type === RST_STREAM) this.#streams.get(body.readUInt32BE(0))?.destroy()
    else if (type === PING) this.#control(PING, body)
    else if (type === GOAWAY) this.#socket.end()
  }

  async #open(body: Buffer, flags: number): Promise<void> {
    const id = body.readUInt32BE(0) & 0x7fffffff
    const headers = readHeaders(await this.#inflate(body.subarray(10)))
    const stream = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => this.#data(id, chunk, 0, done),
      final: (done) => this.#data(id, Buffer.alloc(0), FIN, done),
      destroy: (error, done) => {
        this.#streams.delete(id)
        done(error)
      },
    })
    stream.on('error', () => undefined)
    this.#streams.set(id, stream)
    const reply = Buffer.alloc(4)
    reply.writeUInt32BE(id)
    this.#control(SYN_REPLY, Buffer.concat([reply, await this.#deflate(Buffer.alloc(4))]))
    if ((flags & FIN) !== 0) stream.push(null)
    this.#opened({ headers, stream })
  }

  #data(id: number, chunk: Buffer, flags: number, done: () => void): void {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(id)
    head.writeUInt32BE((flags << 24) | chunk.length, 4)
    if (this.#socket.writable) this.#socket.write(Buffer.concat([head, chunk]), () => done())
    else done()
  }

  #control(type: number, body: Buffer): void {
    const head = Buffer.alloc(8)
    head.writeUInt16BE(VERSION)
    head.writeUInt16BE(type, 2)
    head.writeUInt32BE(body.length, 4)
    if (this.#socket.writable) this.#socket.write(Buffer.concat([head, body]))
  }

  #end(): void {
    for (const stream of this.#streams.values()) stream.destroy()
    this.#streams.clear()
  }
}

async function* framesOf(socket: Duplex): AsyncGenerator<[Buffer, Buffer]> {
  let rest = Buffer.alloc(0)
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 8) {
      const end = 8 + (rest.readUInt32BE(4) & 0xffffff)
      if (rest.length < end) break
      yield [rest.subarray(0, 8), rest.subarray(8, end)]
      rest = rest.subarray(end)
    }
  }
}

/** All header blocks of one direction are one compressed stream, in pieces that end at a flush. */
function blocks(codec: Deflate | Inflate): (block: Buffer) => Promise<Buffer> {
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

/** A count, then names and values, each behind its length. */
function readHeaders(block: Buffer): Map<string, string> {
  let at = 4
  const text = (): string => {
    const end = at + 4 + block.readUInt32BE(at)
    const value = block.toString('utf8', at + 4, end)
    at = end
    return value
  }
  return new Map(Array.from({ length: block.readUInt32BE(0) }, () => [text().toLowerCase(), text()]))
}
