import type { RawStream } from '../../exchange/exchange.ts'
import type { Sink, Source } from '../../body/body.ts'
import { contained, InternalFault } from '../../runtime/faults.ts'
import type { GatheringWriter } from '../../socket/gathering-writer.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import { latin1 } from '../../http1/chars.ts'
import { ChunkedDecoder, framedDataAt, lastChunk } from '../../http1/chunked.ts'
import { HEAD_END, mayBecomeResponse, MessageHead, parseResponseHead } from '../../http1/head.ts'
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
} from '../upstream-types.ts'

/** The connection of a call, as the call uses it. */
export interface CallHost {
  readonly socket: RawStream
  readonly writer: GatheringWriter
  /** Calls carried before the current call. */
  readonly calls: number
  /** Milliseconds until the backend may close the idle connection, as announced by the backend. */
  staysMs: number
  /** Passes on bytes that a paused call left unread, and continues reading. */
  resumeReading(): void
  /** Called when the call is over; a reusable connection may carry another call. */
  finished(reusable: boolean): void
  /** Ends HTTP on the connection; returns bytes that were already read. */
  detach(): Buffer | null
}

/** One request on an HTTP/1.1 connection to a backend: the sink of its body and the source of the response. */
export class Http1Call implements UpstreamCall, Sink, Source {
  source: Source | null = null
  length = 0

  readonly #connection: CallHost
  readonly #request: UpstreamRequest
  #handler: UpstreamHandler | null
  #sink: Sink | null = null
  #decoder: ChunkedDecoder | null = null
  #remaining = 0
  #state = HEAD
  #chunkedRequest = false
  #requestDone = false
  #keepAlive = true
  #blocked = false
  /** Whether a head is being delivered, and body bytes from the same read follow. */
  #isReceiving = false
  #receivedAny = false
  /** Bytes of an incomplete head that were already searched, so that a head that trickles in is searched once. */
  #scanned = 0
  #interims = 0
  #looks = 0
  #trailers: HeaderBlock | null = null
  #cause: Error | null = null

  constructor(connection: CallHost, request: UpstreamRequest, handler: UpstreamHandler) {
    this.#connection = connection
    this.#request = request
    this.#handler = handler
  }

  start(): void {
    const request = this.#request
    let hop = request.trail === undefined ? '' : request.trail.line
    if (request.body.length === -1) {
      this.#chunkedRequest = true
      request.headers.remove('content-length')
      hop += 'transfer-encoding: chunked\r\n'
    } else if (request.body.length > 0 && !request.headers.has('content-length')) {
      hop += 'content-length: ' + request.body.length + '\r\n'
    }
    if (request.upgrade !== '') hop += `connection: upgrade\r\nupgrade: ${request.upgrade}\r\n`
    else if (request.teTrailers) hop += 'connection: te\r\nte: trailers\r\n'
    this.#connection.writer.text(
      request.method +
        ' ' +
        request.target +
        ' HTTP/1.1\r\nhost: ' +
        request.authority +
        '\r\n' +
        request.headers.toText() +
        hop +
        '\r\n',
    )
    if (request.body.length === 0) {
      this.#requestDone = true
      this.#connection.writer.flush()
    } else {
      request.body.pipe(this)
      // The head must not wait for a body that has not begun to arrive.
      if (this.#connection.writer.pending > 0) this.#connection.writer.flush()
    }
  }

  // Sink: the request body.

  write(chunk: Buffer): void {
    // An empty chunk would end a chunked body.
    if (this.#state === DEAD || chunk.length === 0) return
    const writer = this.#connection.writer
    if (this.#chunkedRequest) writer.chunk(chunk)
    else writer.bytes(chunk)
  }

  flush(): boolean {
    return this.#state === DEAD || this.#connection.writer.flush()
  }

  end(trailers: HeaderBlock | null): void {
    if (this.#state === DEAD) return
    if (this.#chunkedRequest) this.#connection.writer.text(lastChunk(trailers))
    this.#connection.writer.flush()
    this.#requestDone = true
    this.source = null
    if (this.#state === ENDED) this.#connection.finished(this.#keepAlive)
  }

  abort(cause: Error): void {
    // A partly sent request cannot be taken back, so the connection is closed.
    this.cancel(cause)
  }

  cancel(cause: Error): void {
    if (this.#state === DEAD || (this.#state === ENDED && this.#requestDone)) return
    this.#die(cause)
  }

  // Source: the response body.

  pipe(sink: Sink): void {
    sink.source = this
    if (this.#state === ENDED) sink.end(this.#trailers)
    else if (this.#state === DEAD) sink.abort(this.#cause ?? LOST)
    else {
      this.#sink = sink
      this.#connection.resumeReading()
      if (!this.#isReceiving) this.#flushHead()
    }
  }

  #flushHead(): void {
    if (this.#state === BODY && this.#sink !== null && !this.#blocked && !this.#sink.flush()) this.#block()
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    if (this.#state === BODY) this.#connection.resumeReading()
  }

  /** Whether the sink is missing or blocked. */
  get paused(): boolean {
    return this.#state === BODY && (this.#sink === null || this.#blocked)
  }

  look(): void {
    if (this.#state !== HEAD || !this.#requestDone || this.#request.limitsHead !== true) return
    if (++this.#looks > HEAD_LOOKS) this.#fail(noResponse())
  }

  /** Whether nothing of the response has arrived. */
  get awaitsHead(): boolean {
    return this.#state === HEAD && this.#scanned === 0
  }

  /** Reads a head and the bytes after it; returns the bytes that are left for later. */
  receiveHead(text: string, length: number, rest: Buffer | null): Buffer | null {
    this.#receivedAny = true
    this.#scanned = 0
    const head = parseResponseHead(text, MAX_HEADERS, length)
    if (!(head instanceof MessageHead)) {
      this.#refuse(`malformed response head (${head.code})`, !STATUS_LINE_PROBLEMS.has(head.code))
      return null
    }
    this.#isReceiving = true
    const isRaw = this.#takeHead(head, rest)
    this.#isReceiving = false
    if (isRaw) return null
    if (rest !== null) return this.receive(rest)
    // The client gets the head without waiting for the body.
    this.#flushHead()
    return null
  }

  /** Returns the bytes that are left for later. */
  receive(bytes: Buffer): Buffer | null {
    this.#receivedAny = true
    if (this.#state === HEAD) {
      const length = this.#headLength(bytes)
      if (length === -1) return bytes
      return this.receiveHead(latin1(bytes, 0, length), length, length < bytes.length ? bytes.subarray(length) : null)
    }
    if (this.#state !== BODY) return bytes
    const sink = this.#sink
    if (sink === null || this.#blocked) {
      this.#connection.socket.pause()
      return bytes
    }
    const taken = this.#feed(bytes, sink)
    return taken === bytes.length ? null : bytes.subarray(taken)
  }

  /** Returns -1 for a head that is incomplete, too large or not HTTP. */
  #headLength(bytes: Buffer): number {
    const end = bytes.indexOf(HEAD_END, Math.max(0, this.#scanned - HEAD_END.length + 1), 'latin1')
    const length = end === -1 ? bytes.length : end + HEAD_END.length
    if (length > MAX_HEAD) {
      this.#refuse('response head too large')
      return -1
    }
    if (end !== -1) return length
    if (!mayBecomeResponse(bytes, 0, this.#scanned)) this.#refuse('malformed response head (not_http)')
    this.#scanned = bytes.length
    return -1
  }

  /** Returns true when the connection has switched to another protocol. */
  #takeHead(head: MessageHead, rest: Buffer | null): boolean {
    const status = head.status
    const handler = this.#handler
    if (handler === null) return false
    if (head.foreignCoding || (head.chunked && (head.contentLength !== -1 || head.minor === 0))) {
      this.#refuse('response framing is ambiguous')
      return false
    }
    // The check comes before anything is forwarded, so that the client can still get an error.
    const problem = head.chunked && rest !== null ? chunkProblem(rest) : null
    if (problem !== null) {
      this.#refuse(`malformed response body (${problem})`)
      return false
    }
    if (status < 200 && status !== 101) {
      this.#takeInterim(head, handler)
      return false
    }
    if (status === 101 || (this.#request.method === 'CONNECT' && status < 300)) {
      if (status === 101 && (this.#request.upgrade === '' || head.upgrade !== this.#request.upgrade)) {
        this.#refuse('response switched to a protocol that was not requested')
        return false
      }
      const kept = this.#connection.detach()
      this.#state = DEAD
      handler.upgraded(status, head.headers, { socket: this.#connection.socket, early: rest ?? kept }, head.upgrade)
      return true
    }
    this.#keepAlive = !head.close && (head.minor === 1 || head.keepAlive)
    // The connection is retired a little early: a request that crosses the backend's close is lost.
    if (head.keepAliveSeconds >= 0) this.#connection.staysMs = 1000 * head.keepAliveSeconds - EARLY_MS
    if (this.#request.method === 'HEAD' || status === 204 || status === 304) this.#remaining = 0
    else if (head.chunked) {
      this.#decoder = new ChunkedDecoder()
      this.#remaining = -1
    } else if (head.contentLength !== -1) this.#remaining = head.contentLength
    else {
      // This body ends only when the connection does.
      this.#remaining = -1
      this.#keepAlive = false
    }
    this.length = this.#remaining
    this.#state = BODY
    this.#handler = null
    if (this.#remaining === 0) this.#bodyDone(null, rest === null ? 0 : rest.length)
    try {
      handler.responded({ status, headers: head.headers, body: this })
    } catch (error) {
      this.#handler = handler
      throw error
    }
    return false
  }

  #takeInterim(head: MessageHead, handler: UpstreamHandler): void {
    // An interim response with connection: close the connection leaves no room for the final response.
    if (head.minor === 0 || head.close) this.#refuse('interim response with connection: close')
    else if (++this.#interims > MAX_INTERIMS) this.#refuse('too many interim responses')
    else handler.informed(head.status, head.headers)
  }

  /**
   * Forwards bytes that are exactly one chunk in wire format, without a buffer, as most events of a stream arrive.
   * Returns false when they are something else, or the sink needs a buffer; then nothing was consumed.
   */
  receiveFramed(bytes: Buffer, length: number): boolean {
    const sink = this.#sink
    if (sink === null || sink.takesFramed !== true || sink.writeFramed === undefined) return false
    if (this.#state !== BODY || this.#blocked || this.#decoder?.isBetweenChunks !== true) return false
    const dataAt = framedDataAt(bytes, length)
    if (dataAt === -1 || !sink.writeFramed(latin1(bytes, 0, length), dataAt)) return false
    // `writeFramed` may have canceled the call.
    if (this.#state === BODY && !sink.flush()) this.#block()
    return true
  }

  /** Returns the number of consumed bytes. */
  #feed(bytes: Buffer, sink: Sink): number {
    const decoder = this.#decoder
    if (decoder !== null) {
      const next = decoder.decode(bytes, 0, this)
      // `write` may have canceled the call.
      if (this.#state !== BODY) return bytes.length
      if (decoder.error !== null) this.#break('bad_response', `malformed response body (${decoder.error})`)
      else if (decoder.done) this.#bodyDone(decoder.trailers, bytes.length - next)
      else if (!sink.flush()) this.#block()
      return next
    }
    const take = this.#remaining === -1 ? bytes.length : Math.min(this.#remaining, bytes.length)
    if (take > 0) sink.write(take === bytes.length ? bytes : bytes.subarray(0, take))
    if (this.#state !== BODY) return bytes.length
    if (this.#remaining !== -1) this.#remaining -= take
    if (this.#remaining === 0) this.#bodyDone(null, bytes.length - take)
    else if (!sink.flush()) this.#block()
    return take
  }

  data(chunk: Buffer): void {
    this.#sink?.write(chunk)
  }

  #block(): void {
    this.#blocked = true
    this.#connection.socket.pause()
  }

  /** `surplus` bytes followed the response. They belong to no request, so the connection is not reused. */
  #bodyDone(trailers: HeaderBlock | null, surplus: number): void {
    this.#state = ENDED
    this.#trailers = trailers
    if (surplus > 0) this.#keepAlive = false
    const sink = this.#sink
    this.#sink = null
    try {
      this.#handBack()
      sink?.end(trailers)
    } catch (error) {
      // `faulted` still needs the sink, to abort the response.
      this.#sink = sink
      throw error
    }
  }

  #handBack(): void {
    // The connection is returned first, so that the client's next request can use it.
    if (this.#requestDone) this.#connection.finished(this.#keepAlive)
    else if (!this.#keepAlive) {
      this.#requestDone = true
      this.source?.cancel(EARLY)
      this.source = null
      this.#connection.finished(false)
    }
  }

  inputEnded(): void {
    if (this.#state !== BODY || this.#remaining !== -1 || this.#decoder !== null) this.connectionLost()
    else if (this.#sink !== null && !this.#blocked) {
      this.#keepAlive = false
      this.#bodyDone(null, 0)
    }
  }

  connectionLost(): void {
    if (this.#state === HEAD) {
      if (this.#receivedAny) this.#refuse('connection closed inside the response head')
      else this.#fail(lostUnanswered(this.#connection.calls > 0))
    } else if (this.#state === BODY) this.#break('connection_lost', 'connection closed inside the response')
    else if (!this.#requestDone) this.#die(LOST)
  }

  /** Ends the call after the consumer of the response has thrown; pending handlers and sinks get the failure. */
  faulted(): void {
    const handler = this.#handler
    const sink = this.#sink
    this.#handler = null
    this.#sink = null
    // After the end of the response, the connection may already carry another call.
    if (this.#state !== ENDED) contained('request', () => this.#die(new InternalFault()))
    if (handler !== null) tellFailed(handler, internalFailure())
    if (sink !== null) contained('request', () => sink.abort(new InternalFault()))
  }

  #refuse(message: string, hasInvalidHeader = false): void {
    this.#fail(new UpstreamError('bad_response', message, false, { hasInvalidHeader }))
  }

  #fail(error: UpstreamError): void {
    const handler = this.#handler
    this.#die(error)
    if (handler !== null) tellFailed(handler, error)
  }

  #break(code: 'bad_response' | 'connection_lost', message: string): void {
    const sink = this.#sink
    const error = new UpstreamError(code, message, false)
    this.#die(error)
    sink?.abort(error)
  }

  #die(cause: Error): void {
    this.#state = DEAD
    this.#cause = cause
    this.#handler = null
    this.#sink = null
    this.source?.cancel(cause)
    this.source = null
    this.#connection.socket.destroy()
  }
}

/** Returns why the received part of a chunked body is invalid; null when it is valid. */
function chunkProblem(bytes: Buffer): string | null {
  const decoder = new ChunkedDecoder()
  decoder.decode(bytes, 0, UNREAD)
  return decoder.error
}

function ignore(): void {}

const UNREAD = { data: ignore }

const LOST = new Error('backend connection lost')
const EARLY = new Error('backend answered before the request ended')
const HEAD = 0
const BODY = 1
/** The response is complete; the request may not be. */
const ENDED = 2
const DEAD = 3

const MAX_HEAD = 262_144
const MAX_HEADERS = 500
/** Codes of heads that are not an HTTP/1 response at all; heads with other codes have an invalid header. */
const STATUS_LINE_PROBLEMS: ReadonlySet<string> = new Set(['bad_status_line', 'unsupported_version'])

const EARLY_MS = 1_000
