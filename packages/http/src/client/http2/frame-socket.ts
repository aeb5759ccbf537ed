import type { RawStream } from '../../exchange/exchange.ts'
import type { FrameReader } from '../../http2/frame-reader.ts'
import { goawayFrame, NO_ERROR } from '../../http2/frames.ts'
import type { FrameOutput } from '../../http2/output.ts'
import { Deadline, type Deadlines } from '../../runtime/deadlines.ts'
import { contained } from '../../runtime/faults.ts'
import type { SocketReader } from '../../socket/socket-reader.ts'
import { PING_TIMEOUT_MS } from './keepalive.ts'

/** The connection whose frames a socket carries. */
export interface FrameSocketOwner {
  /** Whether the connection is gone: nothing is sent or received. */
  readonly isLost: boolean
  /** Called after all frames of a read. */
  readEnded(): void
  /** Called with an error of the socket, which closes next. */
  failed(error: NodeJS.ErrnoException): void
  /** Called when the backend sends nothing more. */
  inputEnded(): void
  closed(): void
  /** Ends the connection, because its own code has thrown. */
  faulted(error: unknown): void
}

interface Parts {
  readonly socket: RawStream
  readonly reader: SocketReader
  readonly frames: FrameReader
  readonly output: FrameOutput
  readonly deadlines: Deadlines
}

/** The socket of a connection to a backend, which carries frames in both directions. */
export class FrameSocket {
  /** Whether the frames of a read are being processed: replies are sent after the last of them. */
  isFeeding = false
  readonly #owner: FrameSocketOwner
  readonly #socket: RawStream
  readonly #reader: SocketReader
  readonly #frames: FrameReader
  readonly #output: FrameOutput
  readonly #deadlines: Deadlines
  /** Closes the socket when the backend does not, because it is gone. */
  readonly #goodbye = new Deadline(() => this.#socket.destroy())
  #readPaused = false
  #hasLeft = false

  constructor(owner: FrameSocketOwner, { socket, reader, frames, output, deadlines }: Parts) {
    this.#owner = owner
    this.#socket = socket
    this.#reader = reader
    this.#frames = frames
    this.#output = output
    this.#deadlines = deadlines
    reader.start(this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
    socket.resume()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#owner.isLost) return
    this.isFeeding = true
    try {
      this.#frames.feed(chunk, 0, chunk.length)
    } catch (error) {
      this.#owner.faulted(error)
    }
    this.isFeeding = false
    this.#owner.readEnded()
    this.sendGathered()
  }

  sendGathered(): void {
    if (this.#owner.isLost) return
    try {
      this.#output.pump()
      this.#output.flush()
      this.#adjustReading()
    } catch (error) {
      this.#owner.faulted(error)
    }
  }

  /** A backend that sends pings without reading must not fill our memory with replies. */
  #adjustReading(): void {
    const pause = this.#output.unsent > MAX_UNSENT
    if (pause === this.#readPaused) return
    this.#readPaused = pause
    if (pause) this.#socket.pause()
    else this.#socket.resume()
  }

  readonly #onDrain = (): void => this.sendGathered()

  readonly #onEnd = (): void => {
    contained('connection', () => this.#owner.inputEnded())
    this.#socket.destroy()
  }

  readonly #onError = (error: NodeJS.ErrnoException): void => contained('connection', () => this.#owner.failed(error))

  readonly #onClose = (): void => {
    contained('connection', () => this.#owner.inputEnded())
    this.#deadlines.clear(this.#goodbye)
    contained('worker', () => this.#owner.closed())
  }

  /** Reads no more frames; gathered frames are still written. */
  stop(): void {
    this.#frames.stop()
    this.#output.close()
    this.#reader.release()
    this.#socket.off('end', this.#onEnd)
    this.#socket.resume()
  }

  /** Closes the socket once the last frames have been sent. */
  closeSoon(): void {
    this.#socket.destroySoon()
    if (!this.#socket.destroyed) this.#deadlines.set(this.#goodbye, PING_TIMEOUT_MS)
  }

  /** Says goodbye, and closes the socket when the backend has done so too. */
  leave(): void {
    if (this.#hasLeft || this.#owner.isLost) return
    this.#hasLeft = true
    this.#output.frames(goawayFrame(0, NO_ERROR))
    this.#output.flush()
    this.#socket.end()
    this.#deadlines.set(this.#goodbye, PING_TIMEOUT_MS)
  }
}

/** Above this number of unsent bytes, nothing is read from the backend until it reads. */
const MAX_UNSENT = 1_048_576
