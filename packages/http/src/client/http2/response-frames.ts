import type { HeaderBlock } from '../../fields/header-block.ts'
import * as frames from '../../http2/frames.ts'
import type { PeerSettings } from '../../http2/peer-settings.ts'
import { type FrameHost, type FrameStream, ReceivedFrames } from '../../http2/received-frames.ts'
import { ResponseFields } from './response-fields.ts'
import { TrailerFields } from '../../http2/trailer-fields.ts'

/** A request that waits for its response, or for the rest of it. */
export interface ResponseStream extends FrameStream {
  /** Whether no final response head has arrived. */
  readonly awaitsHead: boolean
  /** Called with the head of a response or an interim response, not yet validated. */
  takeHead(fields: ResponseFields, ends: boolean): void
  takeTrailers(trailers: HeaderBlock): void
  takeReset(code: number): void
  /** Called when the response is malformed; the stream is reset with the code. */
  refuse(message: string, code: number): void
}

/** The effects of a backend's frames on its connection. */
export interface ResponseFramesHost<Stream> extends FrameHost<Stream> {
  settingsChanged(settings: PeerSettings): void
  /** Called for a GOAWAY: the backend processes no streams above this id. */
  goesAway(lastStream: number, code: number): void
}

/** Processes the frames of a backend: its responses. */
export class ResponseFrames<Stream extends ResponseStream> extends ReceivedFrames<Stream, ResponseFramesHost<Stream>> {
  protected readonly largestPush = 0

  /** Called when a stream was canceled: frames still in flight for it do not count against the backend. */
  expectLate(): void {
    this.guard.useful()
  }

  /** A slow backend may send many frames for streams that were canceled long ago. */
  protected takeLate(stream: number, _ends: boolean, isSmall: boolean): void {
    if (this.streams.isIdle(stream)) this.host.fail(frames.PROTOCOL_ERROR)
    else if (isSmall) this.countIdle()
  }

  protected takeBlock(stream: number, ends: boolean): void {
    const open = this.streams.open.get(stream)
    if (open === undefined) {
      if (this.decode(NOBODY)) this.takeLate(stream, ends, true)
      return
    }
    this.guard.useful()
    if (open.awaitsHead) this.#takeHead(open, ends)
    else this.#takeTrailers(open, ends)
  }

  #takeHead(open: Stream, ends: boolean): void {
    const fields = new ResponseFields()
    if (!this.decode(fields)) return
    if (this.isTooLarge || this.hasTooManyFields) open.refuse('response head too large', frames.ENHANCE_YOUR_CALM)
    else open.takeHead(fields, ends)
  }

  #takeTrailers(open: Stream, ends: boolean): void {
    const fields = new TrailerFields()
    if (!this.decode(fields)) return
    const { problem } = fields
    if (open.inputEnded) this.host.broke(open, frames.STREAM_CLOSED)
    else if (problem !== null) open.refuse(`malformed response trailers (${problem})`, frames.PROTOCOL_ERROR)
    else if (!ends) open.refuse('response has a second head', frames.PROTOCOL_ERROR)
    else if (this.isTooLarge || this.hasTooManyFields) {
      open.refuse('response trailers too large', frames.ENHANCE_YOUR_CALM)
    } else open.takeTrailers(fields.headers)
  }

  protected takeReset(open: Stream, code: number): void {
    open.takeReset(code)
  }

  protected takeGoaway(lastStream: number, code: number): void {
    this.host.goesAway(lastStream, code)
  }

  protected takeSettings(settings: PeerSettings): void {
    this.host.settingsChanged(settings)
  }
}

const NOBODY = { field(): void {} }
