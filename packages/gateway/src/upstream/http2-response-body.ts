import type { ClientHttp2Stream } from 'node:http2'
import type { Sink, Source } from '../net/body.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import { LARGE_CHUNK } from '../net/http2/fields.ts'
import { WaitingBody } from '../net/http2/waiting-body.ts'
import { spentBuffers } from '../net/spent-buffers.ts'
import { type BodyOwner, guarded } from './http2-request-body.ts'

/** The call that a response belongs to. */
export interface ResponseOwner extends BodyOwner {
  /** Part of the body has come. */
  heard(): void
}

/** How far a response has come. */
export const HEAD = 0
export const BODY = 1
/** The response is whole; the request may not be. */
export const ENDED = 2
export const DEAD = 3

/** The body of a response on its way out of an HTTP/2 stream. */
export class Http2ResponseBody implements Source {
  /** Bytes that the head announced; -1 when it did not. */
  length = -1
  state = HEAD
  trailers: HeaderBlock | null = null
  /** Why the rest will not come. */
  cause: Error
  /** The consumer; the call takes it away to tell it of a failure itself. */
  sink: Sink | null = null
  /** All of the body has been taken from the runtime. */
  hasEnded = false
  /** The backend has sent END_STREAM. */
  sawEnd = false

  readonly owner: ResponseOwner
  #stream: ClientHttp2Stream | null = null
  #received = 0
  #blocked = false
  #flushIsDue = false
  /** The body is being taken from the runtime. */
  #isRead = false
  /** Body that arrived before the consumer asked for it. */
  #waiting: WaitingBody | null = null

  constructor(owner: ResponseOwner, cause: Error) {
    this.owner = owner
    this.cause = cause
  }

  /**
   * Takes the stream, and watches for END_STREAM: the runtime ends the readable side of a stream that was cut as it ends one with
   * END_STREAM. The two differ only in when: for END_STREAM the stream is not closed yet.
   */
  attach(stream: ClientHttp2Stream): void {
    this.#stream = stream
    const push = stream.push.bind(stream)
    stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
      const isEnd = chunk === null && !stream.closed
      if (isEnd) this.sawEnd = true
      const result = push(chunk, encoding)
      if (isEnd && this.state === BODY && (this.#blocked || this.sink === null)) this.#takeRest(stream)
      return result
    }
  }

  /** Takes the end of a whole response that nobody reads yet. */
  takeUnread(): void {
    if (this.sawEnd && this.sink === null && this.state === BODY && this.#stream !== null) this.#takeRest(this.#stream)
  }

  /** Takes the end of a whole response out of the runtime, which drops it when the connection closes; a window bounds it. */
  #takeRest(stream: ClientHttp2Stream): void {
    if (this.sink === null) this.#read(stream)
    stream.resume()
  }

  #read(stream: ClientHttp2Stream): void {
    if (this.#isRead) return
    this.#isRead = true
    const { owner } = this
    stream.on('data', (chunk: Buffer) => this.#takeData(chunk))
    stream.on('end', () => guarded(owner, () => this.end()))
  }

  pipe(sink: Sink): void {
    sink.source = this
    if (this.state === ENDED) return sink.end(this.trailers)
    if (this.state === DEAD) return sink.abort(this.cause)
    this.sink = sink
    const waiting = this.#waiting
    this.#waiting = null
    for (const chunk of waiting?.takeAll() ?? NO_CHUNKS) {
      sink.write(chunk)
      // A write may have cancelled the call.
      if (this.sink === null) return
    }
    if (this.hasEnded) return this.end()
    if (waiting !== null) this.flush()
    if (this.#stream !== null) this.#read(this.#stream)
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    this.#stream?.resume()
  }

  cancel(cause: Error): void {
    this.owner.cancel(cause)
  }

  /** Forgets what nobody has taken. */
  forget(): void {
    this.#waiting = null
  }

  #takeData(chunk: Buffer): void {
    const sink = this.sink
    if (this.state !== BODY) return
    this.#received += chunk.length
    if (sink === null) {
      this.owner.heard()
      this.#waiting ??= new WaitingBody()
      return this.#waiting.add(chunk)
    }
    spentBuffers.count(chunk.length)
    try {
      this.owner.heard()
      sink.write(chunk)
      if (chunk.length < LARGE_CHUNK) return this.flush()
    } catch (error) {
      return this.owner.faulted(error)
    }
    if (!this.#flushIsDue) this.flushSoon()
  }

  /** Flushes after the frames that have come together: what they break can still be told to a client that has nothing yet. */
  flushSoon(): void {
    this.#flushIsDue = true
    setImmediate(flushDue, this)
  }

  /** Hands on what has come of the response. */
  flush(): void {
    this.#flushIsDue = false
    if (this.sink === null || this.#blocked || this.sink.flush()) return
    this.#blocked = true
    this.#stream?.pause()
  }

  /** Ends a response whose last byte has come; one that was cut is ended by the `close` of its stream. */
  end(): void {
    if (this.state !== BODY || !this.#isWhole) return
    this.hasEnded = true
    if (this.sink === null) return
    const sink = this.sink
    this.state = ENDED
    this.sink = null
    try {
      sink.end(this.trailers)
    } catch (error) {
      this.sink = sink
      throw error
    }
  }

  /** Ends a response that was reset after END_STREAM: it has no `end`, though all of its data has come. */
  endRead(): void {
    if (this.#isRead && this.#stream?.readableLength === 0) this.end()
  }

  get #isWhole(): boolean {
    return this.sawEnd && (this.length === -1 || this.#received === this.length)
  }
}

function flushDue(body: Http2ResponseBody): void {
  try {
    body.flush()
  } catch (error) {
    body.owner.faulted(error)
  }
}

const NO_CHUNKS: readonly Buffer[] = []
