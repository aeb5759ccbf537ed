import { Duplex } from 'node:stream'
import {
  controlFrame,
  dataFrame,
  FIN,
  type Frame,
  frameType,
  headerBlock,
  headerCompressor,
  MOST_DATA_BYTES,
  number,
  takeFrames,
} from './frames.ts'

/** The interval of pings, which keep proxies from closing an idle connection. */
const PING_EVERY_MS = 5000

/** The client side of SPDY/3.1 as kubelets speak it: only client-initiated streams, no flow control windows, no push. */
export class SpdyClientSession {
  readonly #socket: Duplex
  readonly #compress = headerCompressor()
  readonly #streams = new Map<number, SpdyClientStream>()
  readonly #pings: NodeJS.Timeout
  /** Bytes of an incomplete frame. */
  #rest: Buffer = Buffer.alloc(0)
  /** Serializes the opening of streams: header blocks share one compressor, so they are sent in the order of stream ids. */
  #opening: Promise<unknown> = Promise.resolve()
  #nextId = 1
  #nextPing = 1
  #isOver = false

  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket
    this.#pings = setInterval(() => this.#ping(), PING_EVERY_MS)
    this.#pings.unref()
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => this.#end())
    socket.on('end', () => this.#end())
    socket.on('close', () => this.#end())
    if (head.length > 0) this.#take(head)
  }

  /** Opens a stream; resolves when the server accepts it. */
  open(headers: Readonly<Record<string, string>>): Promise<Duplex> {
    const opened = this.#opening.then(() => this.#open(headers))
    this.#opening = opened.catch(() => undefined)
    return opened
  }

  close(): void {
    this.#write(controlFrame(frameType.goAway, 0, Buffer.alloc(8)))
    this.#socket.end()
    this.#end()
  }

  async #open(headers: Readonly<Record<string, string>>): Promise<Duplex> {
    const block = await this.#compress(headerBlock(headers))
    if (this.#isOver) throw new Error('the connection is closed')
    const id = this.#nextId
    this.#nextId += 2
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
    const stream = new SpdyClientStream({
      send: (chunk, done) => this.#data(id, chunk, done),
      finish: (done) => this.#write(dataFrame(id, FIN, Buffer.alloc(0)), done),
      resume: () => this.#socket.resume(),
      left: (isWhole) => this.#left(id, isWhole),
      replied: () => resolve(stream),
    })
    stream.once('close', () => reject(new Error('the stream was refused')))
    this.#streams.set(id, stream)
    // Stream id, associated stream (none), priority.
    this.#write(controlFrame(frameType.open, 0, Buffer.concat([number(id), number(0), Buffer.alloc(2), block])))
    return promise
  }

  #left(id: number, isWhole: boolean): void {
    if (!this.#streams.delete(id) || isWhole) return
    this.#write(controlFrame(frameType.reset, 0, Buffer.concat([number(id), number(CANCEL)])))
  }

  #data(id: number, chunk: Buffer, done: () => void): void {
    if (chunk.length === 0) return done()
    for (let at = 0; at < chunk.length; at += MOST_DATA_BYTES) {
      const part = chunk.subarray(at, at + MOST_DATA_BYTES)
      this.#write(dataFrame(id, 0, part), at + MOST_DATA_BYTES < chunk.length ? undefined : done)
    }
  }

  #write(frame: Buffer, done: () => void = () => undefined): void {
    if (this.#socket.writable) this.#socket.write(frame, () => done())
    else done()
  }

  #take(chunk: Buffer): void {
    const { frames, rest } = takeFrames(this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]))
    this.#rest = rest
    for (const frame of frames) this.#takeFrame(frame)
  }

  #takeFrame(frame: Frame): void {
    if (frame.kind === 'data') {
      const stream = this.#streams.get(frame.stream)
      // A slow reader blocks all streams, because there are no windows to block one.
      if (stream?.receive(frame.body, (frame.flags & FIN) !== 0) === false) this.#socket.pause()
      return
    }
    const { type, body } = frame
    if (type === frameType.ping) {
      // Pings with odd ids are replies to ours.
      if (body.length >= 4 && body.readUInt32BE(0) % 2 === 0) this.#write(controlFrame(frameType.ping, 0, body))
      return
    }
    const stream = body.length >= 4 ? this.#streams.get(body.readUInt32BE(0)) : undefined
    if (type === frameType.reply) stream?.replied((frame.flags & FIN) !== 0)
    else if (type === frameType.reset) stream?.destroy()
    else if (type === frameType.goAway) this.#socket.end()
  }

  #ping(): void {
    this.#write(controlFrame(frameType.ping, 0, number(this.#nextPing)))
    this.#nextPing += 2
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#pings)
    this.#socket.destroy()
    for (const stream of this.#streams.values()) stream.destroy()
    this.#streams.clear()
  }
}

const CANCEL = 5

interface StreamEnds {
  send: (chunk: Buffer, done: () => void) => void
  finish: (done: () => void) => void
  /** Called when the reader wants more. */
  resume: () => void
  /** Called at the end; `isWhole` when both sides have finished. */
  left: (isWhole: boolean) => void
  replied: () => void
}

class SpdyClientStream extends Duplex {
  readonly #ends: StreamEnds
  /** Set after the last frame of the node; what it sends after that is dropped. */
  #isFinished = false

  constructor(ends: StreamEnds) {
    super()
    this.#ends = ends
    this.on('error', () => undefined)
  }

  /** Returns false when the reader is too slow. */
  receive(bytes: Buffer, isLast: boolean): boolean {
    if (this.#isFinished) return true
    const isWanted = bytes.length === 0 || this.push(bytes)
    if (!isLast) return isWanted
    this.#finish()
    // The reader of an ended stream asks for no more, and other streams may be waiting.
    this.#ends.resume()
    return true
  }

  replied(isLast: boolean): void {
    this.#ends.replied()
    if (isLast) this.#finish()
  }

  #finish(): void {
    if (!this.#isFinished) this.push(null)
    this.#isFinished = true
  }

  override _read(): void {
    this.#ends.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#ends.send(chunk, done)
  }

  override _final(done: () => void): void {
    this.#ends.finish(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#ends.left(this.readableEnded && this.writableFinished)
    this.#ends.resume()
    done(error)
  }
}
