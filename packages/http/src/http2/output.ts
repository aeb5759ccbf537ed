import { reportFault } from '../runtime/faults.ts'
import { type Links, LinkedSet } from '../collections/linked-set.ts'
import type { Duplex } from 'node:stream'
import { GatheringWriter } from '../socket/gathering-writer.ts'
import { DATA, END_STREAM, FIRST_WINDOW, frameHead, headersFrames, SMALLEST_MAX_FRAME } from './frames.ts'
import { NO_TABLE } from './hpack/encode.ts'

/** Callbacks from a connection's output about one stream. */
export interface OutputOwner {
  /** All queued data was sent; more may be written. */
  outputDrained(): void
  /** The end of the stream was sent. */
  outputEnded(): void
}

/** The send queue and the flow-control window of one stream. */
export class StreamOutput implements Links<StreamOutput> {
  before: StreamOutput | null = null
  after: StreamOutput | null = null
  isListed = false
  /** Whether only the window of the connection holds the stream back. */
  isStarved = false
  readonly id: number
  readonly owner: OutputOwner
  /** Bytes that the client allows; negative after the client has reduced its window. */
  window: number
  /** Bytes that are queued because a window is used up or the socket is full. */
  queued = 0
  readonly queue: Buffer[] = []
  /** The trailers after the queue, an empty block for none; null while more data may follow. */
  trailers: string | null = null
  /** Whether the end was sent, or the stream was reset. */
  isOver = false

  constructor(id: number, owner: OutputOwner, window: number) {
    this.id = id
    this.owner = owner
    this.window = window
  }

  drop(): void {
    this.isOver = true
    this.queue.length = 0
    this.queued = 0
  }
}

/**
 * Everything that a connection sends. Frames are gathered, and the frames of one turn of the event loop are sent in one
 * write. Bodies wait in their streams while the client's windows or the socket have no room, and then take turns, one
 * frame each.
 */
export class FrameOutput {
  /** The client's window of the connection. */
  window = FIRST_WINDOW
  /** The initial window of a new stream. */
  firstWindow = FIRST_WINDOW
  maxFrame = SMALLEST_MAX_FRAME
  /** Whether the client wants a smaller header table: the next block then sets the table size to zero. */
  mustDropTable = false
  /** Bytes of bodies sent, by which the frame guard judges the client's frames. */
  bodyBytes = 0
  readonly #socket: Duplex
  readonly #writer: GatheringWriter
  /** Streams that have data to send or a callback to make, in the order of their turns. */
  readonly #waiting = new LinkedSet<StreamOutput>()
  /** Streams that only the window of the connection holds back. */
  #starved: StreamOutput[] = []
  #isDue = false
  #isPumping = false
  #isClosed = false

  constructor(socket: Duplex) {
    this.#socket = socket
    this.#writer = new GatheringWriter(socket)
  }

  /** Approximate number of bytes that the kernel has accepted. */
  get taken(): number {
    return this.#writer.sent - this.#socket.writableLength
  }

  get unsent(): number {
    return this.#writer.pending + this.#socket.writableLength
  }

  /** Adds complete frames other than DATA. */
  frames(text: string): void {
    if (!this.#isClosed) this.#writer.text(text)
  }

  headers(stream: StreamOutput, block: string, ends: boolean): void {
    let whole = block
    if (this.mustDropTable) {
      this.mustDropTable = false
      whole = NO_TABLE + block
    }
    this.frames(headersFrames(stream.id, whole, ends ? END_STREAM : 0, this.maxFrame))
    if (ends) stream.isOver = true
  }

  /** Sends part of a body, which must not be empty; returns false when the caller should wait for `outputDrained`. */
  data(stream: StreamOutput, chunk: Buffer): boolean {
    if (this.fits(stream, chunk.length)) this.#write(stream, chunk, 0)
    else this.#enqueue(stream, chunk)
    return this.hasRoom(stream)
  }

  /** Sends the last part, which may be empty, and the trailers. */
  end(stream: StreamOutput, chunk: Buffer | null, trailers: string): void {
    if (trailers === '' && stream.queued === 0 && this.fits(stream, chunk?.length ?? 0)) {
      this.#write(stream, chunk ?? NO_BYTES, END_STREAM)
      return this.#finish(stream)
    }
    stream.trailers = trailers
    this.#enqueue(stream, chunk ?? NO_BYTES)
  }

  hasRoom(stream: StreamOutput): boolean {
    if (stream.queued === 0 && !this.#isFull()) return true
    this.#waiting.add(stream)
    return false
  }

  /** Called when the stream's window has room again. */
  wake(stream: StreamOutput): void {
    if (stream.queue.length > 0) this.#waiting.add(stream)
  }

  /** Called when the connection's window has grown. */
  widen(increment: number): void {
    this.window += increment
    if (this.#starved.length === 0) return
    const starved = this.#starved
    this.#starved = []
    for (const stream of starved) {
      stream.isStarved = false
      this.wake(stream)
    }
  }

  forget(stream: StreamOutput): void {
    this.#waiting.delete(stream)
    if (stream.isStarved) this.#starved = this.#starved.filter((other) => other !== stream)
    stream.drop()
  }

  /** Sends as much of the queued data as possible. */
  pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    for (let stream = this.#waiting.first; stream !== null; stream = this.#waiting.first) {
      if (this.#isFull()) break
      this.#waiting.delete(stream)
      this.#sendNext(stream)
    }
    this.#isPumping = false
  }

  /** Writes at the end of this turn. */
  flushSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    due.push(this)
    if (due.length === 1) setImmediate(flushDue)
  }

  flush(): void {
    this.#isDue = false
    if (this.#isClosed || this.#writer.pending === 0) return
    try {
      this.#writer.flush()
    } catch (error) {
      this.destroy(error)
    }
  }

  /** Closes the connection because frames may be lost: later frames would make no sense to the peer. */
  destroy(error: unknown): void {
    reportFault(error, 'connection')
    this.#socket.destroy()
  }

  /** Sends the last frames; later frames are ignored. */
  close(): void {
    if (!this.#socket.destroyed) this.flush()
    this.#isClosed = true
  }

  #isFull(): boolean {
    if (this.#writer.pending >= FULL) this.#writer.flush()
    return this.#socket.writableNeedDrain
  }

  /** Returns whether this many bytes can be sent at once. */
  fits(stream: StreamOutput, length: number): boolean {
    if (stream.queue.length > 0 || length > this.maxFrame) return false
    return length === 0 || (length <= stream.window && length <= this.window && !this.#isFull())
  }

  #enqueue(stream: StreamOutput, chunk: Buffer): void {
    stream.queue.push(chunk)
    stream.queued += chunk.length
    this.#waiting.add(stream)
    this.pump()
  }

  /** Sends one frame of a stream. The stream gets another turn unless its own window is used up. */
  #sendNext(stream: StreamOutput): void {
    const [chunk] = stream.queue
    if (chunk === undefined) return stream.owner.outputDrained()
    const most = Math.min(chunk.length, this.maxFrame, stream.window, this.window)
    if (most <= 0 && chunk.length > 0) {
      if (stream.window > 0) this.#starve(stream)
      return
    }
    if (most < chunk.length) {
      stream.queue[0] = chunk.subarray(most)
      this.#write(stream, chunk.subarray(0, most), 0)
      stream.queued -= most
      this.#waiting.add(stream)
      return
    }
    stream.queue.shift()
    stream.queued -= most
    const isLast = stream.queue.length === 0 && stream.trailers !== null
    if (chunk.length > 0 || (isLast && stream.trailers === '')) {
      this.#write(stream, chunk, isLast && stream.trailers === '' ? END_STREAM : 0)
    }
    if (!isLast) return this.#waiting.add(stream)
    if (stream.trailers !== '') this.headers(stream, stream.trailers ?? '', true)
    this.#finish(stream)
  }

  #starve(stream: StreamOutput): void {
    if (stream.isStarved) return
    stream.isStarved = true
    this.#starved.push(stream)
  }

  #finish(stream: StreamOutput): void {
    stream.isOver = true
    stream.owner.outputEnded()
  }

  #write(stream: StreamOutput, chunk: Buffer, flags: number): void {
    stream.window -= chunk.length
    this.window -= chunk.length
    this.bodyBytes += chunk.length
    this.#writer.text(frameHead(chunk.length, DATA, flags, stream.id))
    if (chunk.length > 0) this.#writer.bytes(chunk)
  }
}

/** Outputs of this thread that have something to write at the end of the turn. */
let due: FrameOutput[] = []

function flushDue(): void {
  const outputs = due
  due = []
  for (const output of outputs) {
    try {
      output.flush()
    } catch (error) {
      output.destroy(error)
    }
  }
}

/** Bytes that are gathered before they are written. */
const FULL = 65_536
const NO_BYTES = Buffer.alloc(0)
