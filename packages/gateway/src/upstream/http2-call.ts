import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2'
import type { Sink, Source } from '../net/body.ts'
import { HeaderBlock } from '../net/header-block.ts'
import { appendFields, fieldsToObject, isEndToEnd, isTrailer, LARGE_CHUNK, takeFields } from '../net/http2/fields.ts'
import { spentBuffers } from '../net/spent-buffers.ts'
import { letGo } from './let-go.ts'
import {
  HEAD_LOOKS,
  lostUnanswered,
  MAX_INTERIMS,
  noResponse,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
} from './upstream-types.ts'

/** The connection that a call is on. */
export interface Carrier {
  readonly scheme: 'http' | 'https'
  /** In milliseconds. */
  now(): number
  /** Calls carried so far. */
  readonly calls: number
  /** The connection itself is gone, not only a stream of it. */
  readonly isLost: boolean
  /** Why it is, where the other end did not close it. */
  readonly lostBecause: string | null
  /** The backend said that it will not look at this stream. */
  disowned(streamId: number | undefined): boolean
  /** Something of an answer has come; a head of one, or not. */
  heard(isHead: boolean): void
  /** A call that was sent then was given up without an answer, or within it. */
  gaveUp(sentAt: number): void
  finished(call: Http2Call): void
}

/** Of a response, as the runtime hands it out. */
interface Head {
  status: number
  flags: number
  raw: readonly string[]
}

/** One request on such a connection: the sink of its body and the source of the response. */
export class Http2Call implements UpstreamCall, Sink, Source {
  source: Source | null = null
  length = -1

  readonly #connection: Carrier
  readonly #request: UpstreamRequest
  #handler: UpstreamHandler | null
  #stream: ClientHttp2Stream | null = null
  #sink: Sink | null = null
  #state = HEAD
  #received = 0
  #interims = 0
  #looks = 0
  #requestDone = false
  #mayHaveTrailers = false
  #requestTrailers: HeaderBlock | null = null
  #responseTrailers: HeaderBlock | null = null
  /** A chunk that leaves with the next call, so that a small body and the end share one frame. */
  #held: Buffer | null = null
  #awaitsDrain = false
  #blocked = false
  #flushIsDue = false
  #cause: Error = LOST
  readonly #sentAt: number
  /** The connection had carried others before, and nothing has come for this one. */
  #mayBeStale: boolean

  constructor(connection: Carrier, request: UpstreamRequest, handler: UpstreamHandler) {
    this.#connection = connection
    this.#mayBeStale = connection.calls > 0
    this.#sentAt = connection.now()
    this.#request = request
    this.#handler = handler
  }

  start(session: ClientHttp2Session): void {
    const { method, authority, target, headers, body, teTrailers, upgrade } = this.#request
    if (upgrade !== '' || method === 'CONNECT') {
      this.#cause = new UpstreamError('bad_response', 'no protocol change over HTTP/2', true)
      return queueMicrotask(() => this.#closed())
    }
    if (body.length === -1) headers.remove('content-length')
    const raw = [':method', method, ':scheme', this.#connection.scheme, ':authority', authority, ':path', target]
    appendFields(raw, headers)
    if (teTrailers) raw.push('te', 'trailers')
    const hasBody = body.length !== 0
    // The runtime ends a body before it resets it: either its length or the missing trailers show that it was cut off.
    const waitForTrailers = body.length === -1
    this.#mayHaveTrailers = waitForTrailers
    if (body.length > 0 && !headers.has('content-length')) raw.push('content-length', String(body.length))
    const stream = session.request(raw, { endStream: !hasBody, waitForTrailers })
    this.#stream = stream
    stream.on('error', ignore)
    stream.on('headers', (fields, _flags, raw) => this.#informed(fields[':status'] ?? 0, raw))
    stream.on('response', (fields, flags, raw) =>
      this.#responded(stream, { status: fields[':status'] ?? 0, flags, raw }),
    )
    stream.on('close', () => {
      this.#closed()
      letGo(stream)
    })
    if (!hasBody) {
      this.#requestDone = true
      return
    }
    if (waitForTrailers) {
      stream.on('wantTrailers', () => stream.sendTrailers(fieldsToObject(this.#requestTrailers, isTrailer)))
    }
    body.pipe(this)
  }

  // Sink: the request body.

  write(chunk: Buffer): void {
    if (this.#requestDone || this.#gone || chunk.length === 0) return
    const held = this.#held
    this.#held = chunk
    if (held !== null) this.#stream?.write(held)
  }

  flush(): boolean {
    const stream = this.#stream
    if (stream === null || this.#requestDone || this.#gone) return true
    const held = this.#held
    this.#held = null
    if (held !== null) stream.write(held)
    if (!stream.writableNeedDrain) return true
    if (!this.#awaitsDrain) {
      this.#awaitsDrain = true
      stream.on('drain', () => this.source?.resume())
    }
    return false
  }

  end(trailers: HeaderBlock | null): void {
    if (this.#requestDone) return
    this.#requestDone = true
    this.source = null
    const held = this.#held
    this.#held = null
    if (this.#gone) return
    this.#requestTrailers = trailers
    if (held === null) this.#stream?.end()
    else this.#stream?.end(held)
  }

  abort(cause: Error): void {
    this.cancel(cause)
  }

  cancel(cause: Error): void {
    if (this.#state === ENDED && this.#requestDone) return
    if (this.#state === HEAD || this.#state === BODY) this.#connection.gaveUp(this.#sentAt)
    this.#cause = cause
    this.#handler = null
    this.#sink = null
    this.#dropRequest(cause)
    if (this.#state !== ENDED) this.#state = DEAD
    const stream = this.#stream
    // The runtime puts off a reset from within its own callbacks, and meanwhile aborts the process when it asks for trailers.
    if (this.#mayHaveTrailers) setImmediate(() => stream?.close(constants.NGHTTP2_CANCEL))
    else stream?.close(constants.NGHTTP2_CANCEL)
  }

  // Source: the response body.

  pipe(sink: Sink): void {
    sink.source = this
    if (this.#state === ENDED) return sink.end(this.#responseTrailers)
    if (this.#state === DEAD) return sink.abort(this.#cause)
    this.#sink = sink
    this.#stream?.on('data', (chunk: Buffer) => this.#takeData(chunk))
    this.#stream?.on('end', () => this.#endResponse())
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    this.#stream?.resume()
  }

  #informed(status: number, raw: readonly string[]): void {
    if (this.#handler === null || status === 101) return
    this.#mayBeStale = false
    this.#connection.heard(false)
    if (++this.#interims > MAX_INTERIMS) {
      return this.#fail(new UpstreamError('bad_response', 'too many interim responses', false))
    }
    const headers = new HeaderBlock()
    takeFields(headers, raw, isEndToEnd)
    this.#handler.informed(status, headers)
  }

  look(): void {
    if (this.#state !== HEAD || !this.#requestDone || this.#request.limitsHead !== true) return
    if (++this.#looks > HEAD_LOOKS) this.#fail(noResponse())
  }

  #fail(error: UpstreamError): void {
    const handler = this.#handler
    this.cancel(error)
    handler?.failed(error)
  }

  #responded(stream: ClientHttp2Stream, { status, flags, raw }: Head): void {
    const handler = this.#handler
    if (handler === null) return
    this.#handler = null
    this.#connection.heard(true)
    const headers = new HeaderBlock()
    takeFields(headers, raw, isEndToEnd)
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0 || isBodyless(this.#request.method, status)) {
      this.length = 0
      this.#state = ENDED
      // The stream closes only after its end was read.
      stream.resume()
    } else {
      this.#state = BODY
      const announced = headers.get('content-length')
      this.length = announced === null ? -1 : Number(announced)
      stream.on('trailers', (_fields, _flags, raw) => {
        this.#responseTrailers = new HeaderBlock()
        takeFields(this.#responseTrailers, raw, isTrailer)
      })
    }
    handler.responded({ status, headers, body: this })
  }

  #takeData(chunk: Buffer): void {
    const sink = this.#sink
    if (sink === null) return
    this.#connection.heard(false)
    this.#received += chunk.length
    sink.write(chunk)
    spentBuffers.count(chunk.length)
    if (chunk.length < LARGE_CHUNK) return this.flushResponse()
    if (this.#flushIsDue) return
    this.#flushIsDue = true
    setImmediate(flushDue, this)
  }

  /** Hands on what has come of the response. */
  flushResponse(): void {
    this.#flushIsDue = false
    if (this.#sink === null || this.#blocked || this.#sink.flush()) return
    this.#blocked = true
    this.#stream?.pause()
  }

  #endResponse(): void {
    if (this.#state !== BODY) return
    // The runtime ends a stream that was reset without an error as if the body were whole; `close` will tell.
    if (this.length !== -1 ? this.#received !== this.length : this.#connection.lostBecause !== null) return
    const sink = this.#sink
    this.#state = ENDED
    this.#sink = null
    sink?.end(this.#responseTrailers)
  }

  #closed(): void {
    this.#connection.finished(this)
    if (this.#state === ENDED) {
      if (!this.#requestDone) this.#dropRequest(EARLY)
      return
    }
    const handler = this.#handler
    const sink = this.#sink
    const error = this.#closeError()
    if (this.#state !== DEAD) this.#cause = error
    this.#state = DEAD
    this.#handler = null
    this.#sink = null
    this.#dropRequest(error)
    handler?.failed(error)
    sink?.abort(error)
  }

  #dropRequest(cause: Error): void {
    const source = this.source
    this.source = null
    this.#held = null
    this.#requestDone = true
    source?.cancel(cause)
  }

  #closeError(): UpstreamError {
    if (this.#cause instanceof UpstreamError) return this.#cause
    const code = this.#stream?.rstCode
    const unsent =
      this.#state === HEAD && (code === constants.NGHTTP2_REFUSED_STREAM || this.#connection.disowned(this.#stream?.id))
    if (code === constants.NGHTTP2_PROTOCOL_ERROR) {
      return new UpstreamError('bad_response', 'stream broke the rules of HTTP/2', false)
    }
    if (unsent) return new UpstreamError('connection_lost', 'stream refused by the backend', true)
    const { isLost, lostBecause } = this.#connection
    if (this.#state === HEAD && isLost) return lostUnanswered(this.#mayBeStale, lostBecause)
    const reason = lostBecause ?? `code ${code}`
    return new UpstreamError('connection_lost', `stream closed before the response ended (${reason})`, false)
  }

  get #gone(): boolean {
    return this.#stream === null || this.#stream.destroyed || this.#stream.closed
  }
}

function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

function flushDue(call: Http2Call): void {
  call.flushResponse()
}

function ignore(): void {}

const LOST = new Error('backend connection lost')
const EARLY = new Error('backend answered before the request ended')
const HEAD = 0
const BODY = 1
/** The response is whole; the request may not be. */
const ENDED = 2
const DEAD = 3
