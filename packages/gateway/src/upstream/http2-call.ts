import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2'
import type { Sink, Source } from '../net/body.ts'
import { contained, InternalFault, reportFault } from '../telemetry/faults.ts'
import { HeaderBlock } from '../net/header-block.ts'
import { appendFields, fieldsToObject, isEndToEnd, isTrailer, LARGE_CHUNK, takeFields } from '../net/http2/fields.ts'
import { WaitingBody } from '../net/http2/waiting-body.ts'
import { HOPS_HEADER } from '../net/hops.ts'
import { spentBuffers } from '../net/spent-buffers.ts'
import { StreamSocket } from '../net/stream-socket.ts'
import { ACCEPT_HEADER, acceptOf, KEY_HEADER } from '../net/websocket-handshake.ts'
import { letGo } from './let-go.ts'
import { NoTunnels } from './no-tunnels.ts'
import {
  HEAD_LOOKS,
  internalFailure,
  lostUnanswered,
  MAX_INTERIMS,
  noResponse,
  tellFailed,
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
  /** Calls back once the backend has said whether streams may carry other protocols (RFC 8441). */
  whenSettled(then: (takesTunnels: boolean) => void): void
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
  /** The backend has sent bytes that are not HTTP/2. */
  #isBroken = false
  /** The backend has sent END_STREAM. */
  #sawEnd = false
  /** The body is being taken from the runtime. */
  #isRead = false
  /** All of the body has been taken from the runtime. */
  #hasEnded = false
  /** Body that arrived before the consumer asked for it. */
  #waiting: WaitingBody | null = null
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
    const { method, authority, target, headers, body, teTrailers, upgrade, trail } = this.#request
    if (method === 'CONNECT') {
      this.#cause = new UpstreamError('bad_response', 'no CONNECT to a backend of HTTP/2', true)
      return queueMicrotask(() => this.#closed())
    }
    if (upgrade !== '') return this.#connection.whenSettled((takesTunnels) => this.#openTunnel(session, takesTunnels))
    if (body.length === -1) headers.remove('content-length')
    const raw = [':method', method, ':scheme', this.#connection.scheme, ':authority', authority, ':path', target]
    appendFields(raw, headers)
    if (teTrailers) raw.push('te', 'trailers')
    if (trail !== undefined) raw.push(HOPS_HEADER, trail.value)
    const hasBody = body.length !== 0
    const waitForTrailers = body.length === -1
    this.#mayHaveTrailers = waitForTrailers
    if (body.length > 0 && !headers.has('content-length')) raw.push('content-length', String(body.length))
    const stream = session.request(raw, { endStream: !hasBody, waitForTrailers })
    this.#listen(stream)
    if (!hasBody) {
      this.#requestDone = true
      return
    }
    if (waitForTrailers) {
      stream.on('wantTrailers', () => stream.sendTrailers(fieldsToObject(this.#requestTrailers, isTrailer)))
    }
    body.pipe(this)
  }

  /** Asks for another protocol inside the stream (RFC 8441). */
  #openTunnel(session: ClientHttp2Session, takesTunnels: boolean): void {
    if (this.#state === DEAD) return this.#closed()
    if (!takesTunnels) {
      this.#cause = new NoTunnels()
      return queueMicrotask(() => this.#closed())
    }
    const { authority, target, headers, upgrade, trail } = this.#request
    const pseudo = [':method', 'CONNECT', ':protocol', upgrade, ':scheme', this.#connection.scheme]
    const raw = [...pseudo, ':authority', authority, ':path', target]
    const kept = headers.clone()
    // HTTP/2 needs no handshake key: `:protocol` itself negotiates WebSocket.
    kept.remove(KEY_HEADER)
    kept.remove('content-length')
    appendFields(raw, kept)
    if (trail !== undefined) raw.push(HOPS_HEADER, trail.value)
    this.#listen(session.request(raw, { endStream: false }))
  }

  #listen(stream: ClientHttp2Stream): void {
    this.#stream = stream
    this.#watchEnd(stream)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_HTTP2_ERROR') this.#isBroken = true
    })
    stream.on('headers', (fields, _flags, raw) => this.#guard(() => this.#informed(fields[':status'] ?? 0, raw)))
    stream.on('response', (fields, flags, raw) => {
      try {
        this.#responded(stream, { status: fields[':status'] ?? 0, flags, raw })
      } catch (error) {
        this.faulted(error)
      }
    })
    stream.on('close', () => {
      try {
        this.#closed()
      } catch (error) {
        this.faulted(error)
      }
      letGo(stream)
    })
  }

  #joined(handler: UpstreamHandler, headers: HeaderBlock): void {
    this.#state = BODY
    const key = this.#request.headers.get(KEY_HEADER)
    // A client that sent the HTTP/1.1 handshake expects `sec-websocket-accept`.
    if (key !== null && !headers.has(ACCEPT_HEADER)) headers.add(ACCEPT_HEADER, acceptOf(key))
    const socket = new StreamSocket({ input: this, output: this, reset: (cause) => this.cancel(cause) })
    handler.upgraded(101, headers, { socket, early: null }, this.#request.upgrade)
  }

  /**
   * The runtime ends the readable side of a stream that was cut as it ends one with END_STREAM. The two differ only in when:
   * for END_STREAM the stream is not closed yet.
   */
  #watchEnd(stream: ClientHttp2Stream): void {
    const push = stream.push.bind(stream)
    stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
      const isEnd = chunk === null && !stream.closed
      if (isEnd) this.#sawEnd = true
      const result = push(chunk, encoding)
      if (isEnd && this.#state === BODY && (this.#blocked || this.#sink === null)) this.#takeRest(stream)
      return result
    }
  }

  /** Takes the end of a whole response out of the runtime, which drops it when the connection closes; a window bounds it. */
  #takeRest(stream: ClientHttp2Stream): void {
    if (this.#sink === null) this.#read(stream)
    stream.resume()
  }

  #read(stream: ClientHttp2Stream): void {
    if (this.#isRead) return
    this.#isRead = true
    stream.on('data', (chunk: Buffer) => this.#takeData(chunk))
    stream.on('end', () => this.#guard(() => this.#endResponse()))
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
      stream.on('drain', () => this.#guard(() => this.source?.resume()))
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
    this.#waiting = null
    const stream = this.#stream
    // The runtime ends a body before it resets the stream: half a request would look whole.
    if (!this.#requestDone && stream !== null) stream.end = () => stream
    this.#dropRequest(cause)
    if (this.#state !== ENDED) this.#state = DEAD
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
    const waiting = this.#waiting
    this.#waiting = null
    for (const chunk of waiting?.takeAll() ?? NO_CHUNKS) {
      sink.write(chunk)
      // A write may have cancelled the call.
      if (this.#sink === null) return
    }
    if (this.#hasEnded) return this.#endResponse()
    if (waiting !== null) this.flushResponse()
    if (this.#stream !== null) this.#read(this.#stream)
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    this.#stream?.resume()
  }

  /** Runs a callback of the stream; the call ends if the consumer of the response throws. */
  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.faulted(error)
    }
  }

  /** Ends the call after the consumer of the response has thrown; pending handlers and sinks get the failure. */
  faulted(error: unknown): void {
    reportFault(error, 'request')
    const handler = this.#handler
    const sink = this.#sink
    contained('request', () => this.cancel(new InternalFault()))
    if (handler !== null) tellFailed(handler, internalFailure())
    if (sink !== null) contained('request', () => sink.abort(new InternalFault()))
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
    if (
      this.#state !== HEAD ||
      (!this.#requestDone && this.#request.upgrade === '') ||
      this.#request.limitsHead !== true
    )
      return
    if (++this.#looks > HEAD_LOOKS) this.#fail(noResponse())
  }

  #fail(error: UpstreamError): void {
    const handler = this.#handler
    this.cancel(error)
    if (handler !== null) tellFailed(handler, error)
  }

  #responded(stream: ClientHttp2Stream, { status, flags, raw }: Head): void {
    const handler = this.#handler
    if (handler === null) return
    this.#handler = null
    try {
      this.#answer(stream, handler, { status, flags, raw })
    } catch (error) {
      this.#handler = handler
      throw error
    }
  }

  #answer(stream: ClientHttp2Stream, handler: UpstreamHandler, { status, flags, raw }: Head): void {
    this.#connection.heard(true)
    const headers = new HeaderBlock()
    takeFields(headers, raw, isEndToEnd)
    const hasEnded = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    if (this.#request.upgrade !== '') {
      if (status >= 200 && status < 300 && !hasEnded) return this.#joined(handler, headers)
      // No tunnel: the answer says why, and nothing follows the request.
      this.end(null)
    }
    if (hasEnded || isBodyless(this.#request.method, status)) {
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
    // After the frames that came with it: what they break can still be told to a client that has nothing yet.
    if (this.#state === BODY) setImmediate(flushDue, this)
    if (this.#sawEnd && this.#sink === null && this.#state === BODY) this.#takeRest(stream)
  }

  #takeData(chunk: Buffer): void {
    const sink = this.#sink
    if (this.#state !== BODY) return
    this.#received += chunk.length
    if (sink === null) {
      this.#connection.heard(false)
      this.#waiting ??= new WaitingBody()
      return this.#waiting.add(chunk)
    }
    spentBuffers.count(chunk.length)
    try {
      this.#connection.heard(false)
      sink.write(chunk)
      if (chunk.length < LARGE_CHUNK) return this.flushResponse()
    } catch (error) {
      return this.faulted(error)
    }
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
    // A cut stream is reported by `close`, which follows.
    if (this.#state !== BODY || !this.#isWhole) return
    this.#hasEnded = true
    if (this.#sink === null) return
    const sink = this.#sink
    this.#state = ENDED
    this.#sink = null
    try {
      sink?.end(this.#responseTrailers)
    } catch (error) {
      this.#sink = sink
      throw error
    }
  }

  get #isWhole(): boolean {
    return this.#sawEnd && (this.length === -1 || this.#received === this.length)
  }

  #closed(): void {
    this.#connection.finished(this)
    // A stream that was reset after END_STREAM has no `end`, though all of its data has come.
    if (this.#isRead && this.#stream?.readableLength === 0) this.#endResponse()
    if (this.#state === ENDED || this.#hasEnded) {
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
    if (handler !== null) tellFailed(handler, error)
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
    if (this.#isBroken) {
      return new UpstreamError('bad_response', 'connection broke the rules of HTTP/2', false)
    }
    if (unsent) return new UpstreamError('connection_lost', 'stream refused by the backend', true)
    const { isLost, lostBecause } = this.#connection
    if (this.#state === HEAD && isLost) return lostUnanswered(this.#mayBeStale, lostBecause)
    const message = 'stream closed before the response ended'
    if (isLost) {
      return new UpstreamError('connection_lost', `${message} (${lostBecause ?? 'connection closed'})`, false)
    }
    return new UpstreamError('connection_lost', `${message} (code ${code})`, false, { resetCode: code ?? null })
  }

  get #gone(): boolean {
    return this.#stream === null || this.#stream.destroyed || this.#stream.closed
  }
}

function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

function flushDue(call: Http2Call): void {
  try {
    call.flushResponse()
  } catch (error) {
    call.faulted(error)
  }
}

const NO_CHUNKS: readonly Buffer[] = []
const LOST = new Error('backend connection lost')
const EARLY = new Error('backend answered before the request ended')
const HEAD = 0
const BODY = 1
/** The response is whole; the request may not be. */
const ENDED = 2
const DEAD = 3
