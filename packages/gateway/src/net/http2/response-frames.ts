import type { HeaderBlock } from '../header-block.ts'
import * as frames from './frames.ts'
import type { PeerSettings } from './peer-settings.ts'
import { type FrameHost, type FrameStream, ReceivedFrames } from './received-frames.ts'
import { ResponseFields } from './response-fields.ts'
import { TrailerFields } from './trailer-fields.ts'

/** A request that waits for its response, or for the rest of it. */
export interface ResponseStream extends FrameStream {
  /** No head has come but those of interim responses. */
  readonly awaitsHead: boolean
  /** The head of a response or of an interim response, not yet judged. */
  takeHead(fields: ResponseFields, ends: boolean): void
  takeTrailers(trailers: HeaderBlock): void
  takeReset(code: number): void
  /** The response is none; the stream is reset with the code. */
  refuse(message: string, code: number): void
}

/** What the frames of a backend may bring about on its connection. */
export interface ResponseFramesHost<Stream> extends FrameHost<Stream> {
  settingsChanged(settings: PeerSettings): void
  /** The backend opens no streams above this one. */
  goesAway(lastStream: number, code: number): void
}

/** Does what the frames of a backend say: its responses. */
export class ResponseFrames<Stream extends ResponseStream> extends ReceivedFrames<Stream, ResponseFramesHost<Stream>> {
  protected readonly largestPush = 0

  /** A stream was given up: what is on its way for it is not held against the backend. */
  expectLate(): void {
    this.guard.useful()
  }

  /** A backend that answers slowly may send much for streams that were given up long ago. */
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
