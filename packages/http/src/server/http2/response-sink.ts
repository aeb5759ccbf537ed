import type { Sink, Source } from '../../body/body.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import type { ResponseOwner } from './exchange-contracts.ts'
import { type FrameOutput, type OutputOwner, StreamOutput } from '../../http2/output.ts'
import { trailerBlock } from '../../http2/sent-fields.ts'
import { contained } from '../../runtime/faults.ts'
import { responseBlock } from './response-head.ts'

/** A response on its way into an HTTP/2 stream. */
export class Http2ResponseSink implements Sink, OutputOwner {
  readonly owner: ResponseOwner
  source: Source | null = null
  readonly output: StreamOutput
  /** Body bytes written so far. */
  bytes = 0
  /** Bytes that were sent through the client's tunnel. */
  tunnelBytes = 0
  /** Whether the stream carries a tunnel: its data is not a body. */
  isTunnelOpen = false
  /** Whether the whole response was written, or never will be. */
  isDone = false
  /** Whether a final head was sent. */
  hasBegun = false
  /** Whether END_STREAM was sent with the head. */
  isBodyless = false

  readonly #frames: FrameOutput
  /** A chunk that is held back until the next call, so that a small body and the end share one frame. */
  #held: Buffer | null = null

  constructor(owner: ResponseOwner, frames: FrameOutput, stream: number) {
    this.owner = owner
    this.#frames = frames
    this.output = new StreamOutput(stream, this, frames.firstWindow)
  }

  /** Sends an interim response. */
  inform(status: number, headers: HeaderBlock): void {
    if (this.hasBegun || this.owner.isClosed) return
    this.#frames.headers(this.output, responseBlock(status, headers, -1), false)
    this.owner.flushFrames()
  }

  /** Sends the head; `length` is -1 when unknown. */
  begin(status: number, headers: HeaderBlock, length: number): void {
    this.hasBegun = true
    if (this.owner.isClosed) return
    const headOnly = this.owner.method === 'HEAD' || status === 204 || status === 205 || status === 304
    this.isBodyless = headOnly || length === 0
    if (status === 204 || status === 205) headers.remove('content-length')
    // A policy that changed method or status may have left the length of another body.
    else if (!headOnly && Number(headers.get('content-length') ?? length) !== length) headers.remove('content-length')
    const announced = length >= 0 && !headOnly && !headers.has('content-length') ? length : -1
    // Status codes beyond the classes of RFC 9110 are sent as 502.
    const block = responseBlock(status > 599 ? 502 : status, headers, announced)
    this.#frames.headers(this.output, block, this.isBodyless)
    // The response is complete, whenever its sink is ended.
    if (this.isBodyless) setImmediate(endBodyless, this)
  }

  /** Accepts a tunnel; further data passes through it. */
  openTunnel(headers: HeaderBlock): void {
    this.hasBegun = true
    this.isTunnelOpen = true
    this.#frames.headers(this.output, responseBlock(200, headers, -1), false)
    this.owner.flushFrames()
  }

  write(chunk: Buffer): void {
    if (this.isBodyless || this.isDone || chunk.length === 0) return
    if (this.isTunnelOpen) this.tunnelBytes += chunk.length
    else this.bytes += chunk.length
    const held = this.#held
    this.#held = chunk
    if (held === null || this.owner.isClosed) return
    try {
      this.#frames.data(this.output, held)
    } catch (error) {
      this.owner.connectionFaulted(error)
    }
  }

  flush(): boolean {
    if (this.isDone || this.isBodyless || this.owner.isClosed) return true
    const held = this.#held
    this.#held = null
    try {
      const room = held === null ? this.#frames.hasRoom(this.output) : this.#frames.data(this.output, held)
      this.owner.flushFrames()
      return room
    } catch (error) {
      this.owner.connectionFaulted(error)
      return true
    }
  }

  end(trailers: HeaderBlock | null): void {
    try {
      this.#end(trailers)
    } catch (error) {
      // The observer may already count the response as complete: only closing the connection reveals the failure.
      this.owner.connectionFaulted(error)
    }
  }

  #end(trailers: HeaderBlock | null): void {
    // The client disconnected a moment ago, and the exchange has already failed.
    if (this.isDone || (this.owner.isClosed && !this.isBodyless)) return
    const held = this.#held
    this.#held = null
    this.isDone = true
    this.source = null
    this.owner.responseSent()
    if (this.owner.isClosed) return
    if (this.isBodyless) this.outputEnded()
    else this.#frames.end(this.output, held, trailerBlock(trailers))
    this.owner.flushFrames()
  }

  abort(cause: Error): void {
    this.owner.reset(cause)
  }

  /** Called when the rest of the response will not be sent; returns false when the response was complete. */
  abandon(cause: Error): boolean {
    if (this.isDone) return false
    this.isDone = true
    this.#held = null
    const { source } = this
    this.source = null
    if (source !== null) contained('connection', () => source.cancel(cause))
    return true
  }

  // Callbacks from the output of the connection.

  outputDrained(): void {
    try {
      this.source?.resume()
    } catch (error) {
      this.owner.faulted(error)
    }
  }

  outputEnded(): void {
    try {
      this.owner.outputOver()
    } catch (error) {
      this.owner.connectionFaulted(error)
    }
  }
}

function endBodyless(response: Http2ResponseSink): void {
  try {
    response.end(null)
  } catch (error) {
    response.owner.faulted(error)
  }
}
