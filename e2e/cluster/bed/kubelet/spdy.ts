import { Duplex } from 'node:stream'
import {
  controlFrame,
  dataFrame,
  FIN,
  type Frame,
  frameType,
  headerCompressor,
  headerReader,
  number,
  readHeaderBlock,
  takeFrames,
} from '../../../../packages/controller/src/kube/spdy/frames.ts'

/** A stream that the other end has opened, with the headers it was opened with. */
export interface SpdyStream {
  headers: ReadonlyMap<string, string>
  stream: Duplex
}

/** The serving end of SPDY/3.1 as kubelets speak it: streams that the other end opens, no windows, no pushes. */
export class SpdySession {
  readonly #socket: Duplex
  readonly #inflate = headerReader()
  readonly #deflate = headerCompressor()
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
      let rest: Buffer = Buffer.alloc(0)
      for await (const chunk of this.#socket as AsyncIterable<Buffer>) {
        const taken = takeFrames(Buffer.concat([rest, chunk]))
        rest = taken.rest
        for (const frame of taken.frames) await this.#take(frame)
      }
    } catch {
      // A connection that breaks is one that ends.
    }
    this.#end()
  }

  close(): void {
    this.#socket.end()
  }

  async #take(frame: Frame): Promise<void> {
    const { flags, body } = frame
    if (frame.kind === 'data') {
      const stream = this.#streams.get(frame.stream)
      if (body.length > 0) stream?.push(body)
      if ((flags & FIN) !== 0) stream?.push(null)
      return
    }
    const { type } = frame
    if (type === frameType.open) await this.#open(body, flags)
    else if (type === frameType.reset) this.#streams.get(body.readUInt32BE(0))?.destroy()
    else if (type === frameType.ping) this.#write(controlFrame(frameType.ping, 0, body))
    else if (type === frameType.goAway) this.#socket.end()
  }

  async #open(body: Buffer, flags: number): Promise<void> {
    const id = body.readUInt32BE(0) & 0x7fffffff
    const headers = readHeaderBlock(await this.#inflate(body.subarray(10)))
    const stream = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => this.#write(dataFrame(id, 0, chunk), done),
      final: (done) => this.#write(dataFrame(id, FIN, Buffer.alloc(0)), done),
      destroy: (error, done) => {
        this.#streams.delete(id)
        done(error)
      },
    })
    stream.on('error', () => undefined)
    this.#streams.set(id, stream)
    const reply = Buffer.concat([number(id), await this.#deflate(Buffer.alloc(4))])
    this.#write(controlFrame(frameType.reply, 0, reply))
    if ((flags & FIN) !== 0) stream.push(null)
    this.#opened({ headers, stream })
  }

  #write(frame: Buffer, done: () => void = () => undefined): void {
    if (this.#socket.writable) this.#socket.write(frame, () => done())
    else done()
  }

  #end(): void {
    for (const stream of this.#streams.values()) stream.destroy()
    this.#streams.clear()
  }
}
