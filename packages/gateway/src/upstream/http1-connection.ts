import type { Socket } from 'node:net'
import type { Sink, Source } from '../net/body.ts'
import { GatheringWriter } from '../net/gathering-writer.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import { latin1 } from '../net/http1/chars.ts'
import { chunkHead, ChunkedDecoder, lastChunk } from '../net/http1/chunked.ts'
import { mayBecomeResponse, MessageHead, parseResponseHead } from '../net/http1/head.ts'
import { readerOf, type SocketReader } from '../net/socket-reader.ts'
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

/** What becomes of a connection when its call is over. */
export interface ConnectionOwner {
  /** Ready for another request. */
  idle(connection: Http1Connection): void
  closed(connection: Http1Connection): void
}

/** One HTTP/1.1 connection to a backend; carries one call at a time. */
export class Http1Connection {
  readonly socket: Socket
  readonly writer: GatheringWriter
  /** Calls carried before the present one. */
  calls = 0
  /** When it became idle, for the pool. */
  idleSince = 0
  /** How long it may be idle before the backend may close it, as far as the backend says. */
  staysMs = Infinity

  readonly #owner: ConnectionOwner
  readonly #reader: SocketReader
  #call: Http1Call | null = null
  #input: Buffer | null = null
  #ended = false

  constructor(socket: Socket, owner: ConnectionOwner, reader: SocketReader = readerOf(socket)) {
    this.socket = socket
    this.#reader = reader
    this.#owner = owner
    this.writer = new GatheringWriter(socket)
    reader.start(this.#onData)
    socket.on('drain', this.#onDrain)
    socket.on('end', this.#onEnd)
    socket.on('error', ignore)
    socket.on('close', this.#onClose)
  }

  get usable(): boolean {
    return this.#call === null && !this.#ended && !this.socket.destroyed && this.socket.writable
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    const call = new Http1Call(this, request, handler)
    this.#call = call
    call.start()
    return call
  }

  /** Called once every `LOOK_MS`. */
  look(): void {
    this.#call?.look()
  }

  /** Bytes that a paused call left behind, and leave to read on. */
  resumeReading(): void {
    const input = this.#input
    this.#input = null
    if (input !== null) this.#onData(input)
    if (this.#call === null || this.#input !== null) return
    if (this.#ended) this.#call.inputEnded()
    else this.socket.resume()
  }

  finished(reusable: boolean): void {
    this.#call = null
    this.calls++
    // Bytes beyond the response would be taken for the answer to the next request.
    if (!reusable || this.#ended || this.#input !== null) this.socket.destroy()
    else this.#owner.idle(this)
  }

  detach(): Buffer | null {
    this.#call = null
    this.#reader.release()
    this.socket.off('drain', this.#onDrain)
    this.socket.off('end', this.#onEnd)
    this.socket.pause()
    const early = this.#input
    this.#input = null
    return early
  }

  readonly #onData = (chunk: Buffer): void => {
    const call = this.#call
    if (call === null) {
      // An idle connection that speaks would answer a request not yet sent.
      this.socket.destroy()
      return
    }
    const bytes = this.#input === null ? chunk : Buffer.concat([this.#input, chunk])
    this.#input = null
    const taken = call.receive(bytes)
    if (taken < bytes.length && this.#call === call) this.#input = taken === 0 ? bytes : bytes.subarray(taken)
  }

  readonly #onDrain = (): void => {
    this.#call?.source?.resume()
  }

  readonly #onEnd = (): void => {
    this.#ended = true
    const call = this.#call
    if (call === null) this.socket.destroy()
    else if (this.#input === null || !call.paused) call.inputEnded()
  }

  readonly #onClose = (): void => {
    const call = this.#call
    // After a clean end a paused call still has something whole to take; it goes on when its sink asks.
    if (call !== null && !(this.#ended && call.paused)) {
      this.#call = null
      call.connectionLost()
    }
    this.#owner.closed(this)
  }
}

/** One request on such a connection: the sink of its body and the source of the response. */
class Http1Call implements UpstreamCall, Sink, Source {
  source: Source | null = null
  length = 0

  readonly #connection: Http1Connection
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
  #receivedAny = false
  /** Bytes of a head that is not whole yet and were looked at: one that comes in drops is read once. */
  #scanned = 0
  #interims = 0
  #looks = 0
  #trailers: HeaderBlock | null = null
  #cause: Error | null = null

  constructor(connection: Http1Connection, request: UpstreamRequest, handler: UpstreamHandler) {
    this.#connection = connection
    this.#request = request
    this.#handler = handler
  }

  start(): void {
    const request = this.#request
    let hop = ''
    if (request.body.length === -1) {
      this.#chunkedRequest = true
      request.headers.remove('content-length')
      hop = 'transfer-encoding: chunked\r\n'
    } else if (request.body.length > 0 && !request.headers.has('content-length')) {
      hop = 'content-length: ' + request.body.length + '\r\n'
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
      // A body that has not begun to arrive must not hold the head back.
      if (this.#connection.writer.pending > 0) this.#connection.writer.flush()
    }
  }

  // Sink: the request body.

  write(chunk: Buffer): void {
    // An empty chunk would end a chunked body.
    if (this.#state === DEAD || chunk.length === 0) return
    const writer = this.#connection.writer
    if (this.#chunkedRequest) {
      writer.text(chunkHead(chunk.length))
      writer.bytes(chunk)
      writer.text('\r\n')
    } else writer.bytes(chunk)
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
    // Half a request cannot be taken back; the connection says so by closing.
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
    }
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    if (this.#state === BODY) this.#connection.resumeReading()
  }

  /** Its sink takes nothing at the moment. */
  get paused(): boolean {
    return this.#state === BODY && (this.#sink === null || this.#blocked)
  }

  look(): void {
    if (this.#state !== HEAD || !this.#requestDone || this.#request.limitsHead !== true) return
    if (++this.#looks > HEAD_LOOKS) this.#fail(noResponse())
  }

  /** Returns how many bytes were taken; the rest is kept by the connection. */
  receive(bytes: Buffer): number {
    this.#receivedAny = true
    let at = 0
    while (this.#state === HEAD) {
      const end = bytes.indexOf('\r\n\r\n', at + Math.max(0, this.#scanned - 3), 'latin1')
      if ((end === -1 ? bytes.length : end + 4) - at > MAX_HEAD) {
        this.#refuse('response head too large')
        return at
      }
      if (end === -1) {
        if (!mayBecomeResponse(bytes, at, at + this.#scanned)) this.#refuse('malformed response head (not_http)')
        this.#scanned = bytes.length - at
        return at
      }
      const head = parseResponseHead(latin1(bytes, at, end + 4), MAX_HEADERS)
      this.#scanned = 0
      at = end + 4
      if (!(head instanceof MessageHead)) {
        this.#refuse(`malformed response head (${head.code})`)
        return at
      }
      if (this.#takeHead(head, bytes, at)) return bytes.length
    }
    if (this.#state !== BODY) return at
    const sink = this.#sink
    if (sink === null || this.#blocked) {
      this.#connection.socket.pause()
      return at
    }
    return this.#feed(bytes, at, sink)
  }

  /** True when the connection has become something else than HTTP. */
  #takeHead(head: MessageHead, bytes: Buffer, at: number): boolean {
    const status = head.status
    const handler = this.#handler
    if (handler === null) return false
    if (head.foreignCoding || (head.chunked && (head.contentLength !== -1 || head.minor === 0))) {
      this.#refuse('response framing is ambiguous')
      return false
    }
    // Found before anything is handed on, so that the client can still be told.
    const problem = head.chunked && bytes.length > at ? chunkProblem(bytes, at) : null
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
        this.#refuse('protocol changed to one that was not asked for')
        return false
      }
      const kept = this.#connection.detach()
      const early = bytes.length > at ? bytes.subarray(at) : kept
      this.#state = DEAD
      handler.upgraded(status, head.headers, { socket: this.#connection.socket, early }, head.upgrade)
      return true
    }
    this.#keepAlive = !head.close && (head.minor === 1 || head.keepAlive)
    // Left a little early: a request that meets the close on its way is lost.
    if (head.keepAliveSeconds >= 0) this.#connection.staysMs = 1000 * head.keepAliveSeconds - EARLY_MS
    if (this.#request.method === 'HEAD' || status === 204 || status === 304) this.#remaining = 0
    else if (head.chunked) {
      this.#decoder = new ChunkedDecoder()
      this.#remaining = -1
    } else if (head.contentLength !== -1) this.#remaining = head.contentLength
    else {
      // Only the end of the connection ends this body.
      this.#remaining = -1
      this.#keepAlive = false
    }
    this.length = this.#remaining
    this.#state = BODY
    this.#handler = null
    if (this.#remaining === 0) this.#bodyDone(null, bytes.length - at)
    handler.responded({ status, headers: head.headers, body: this })
    return false
  }

  #takeInterim(head: MessageHead, handler: UpstreamHandler): void {
    // After an interim answer that ends the connection nothing could follow.
    if (head.minor === 0 || head.close) this.#refuse('interim response that closes')
    else if (++this.#interims > MAX_INTERIMS) this.#refuse('too many interim responses')
    else handler.informed(head.status, head.headers)
  }

  #feed(bytes: Buffer, at: number, sink: Sink): number {
    const decoder = this.#decoder
    if (decoder !== null) {
      const next = decoder.decode(bytes, at, this)
      // A write may have cancelled the call.
      if (this.#state !== BODY) return bytes.length
      if (decoder.error !== null) this.#break('bad_response', `malformed response body (${decoder.error})`)
      else if (decoder.done) this.#bodyDone(decoder.trailers, bytes.length - next)
      else if (!sink.flush()) this.#block()
      return next
    }
    const available = bytes.length - at
    const take = this.#remaining === -1 ? available : Math.min(this.#remaining, available)
    if (take > 0) sink.write(take === bytes.length ? bytes : bytes.subarray(at, at + take))
    if (this.#state !== BODY) return bytes.length
    if (this.#remaining !== -1) this.#remaining -= take
    if (this.#remaining === 0) this.#bodyDone(null, available - take)
    else if (!sink.flush()) this.#block()
    return at + take
  }

  data(chunk: Buffer): void {
    this.#sink?.write(chunk)
  }

  #block(): void {
    this.#blocked = true
    this.#connection.socket.pause()
  }

  /** `surplus` bytes followed the response: they belong to nobody, so the connection is not used again. */
  #bodyDone(trailers: HeaderBlock | null, surplus: number): void {
    this.#state = ENDED
    this.#trailers = trailers
    if (surplus > 0) this.#keepAlive = false
    const sink = this.#sink
    this.#sink = null
    // The connection is given back first, so that the next request of this client finds it.
    if (this.#requestDone) this.#connection.finished(this.#keepAlive)
    else if (!this.#keepAlive) {
      this.#requestDone = true
      this.source?.cancel(EARLY)
      this.source = null
      this.#connection.finished(false)
    }
    sink?.end(trailers)
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

  #refuse(message: string): void {
    this.#fail(new UpstreamError('bad_response', message, false))
  }

  #fail(error: UpstreamError): void {
    const handler = this.#handler
    this.#die(error)
    handler?.failed(error)
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

/** Why what came of a chunked body is refused; null for a good one. */
function chunkProblem(bytes: Buffer, at: number): string | null {
  const decoder = new ChunkedDecoder()
  decoder.decode(bytes, at, UNREAD)
  return decoder.error
}

function ignore(): void {}

const UNREAD = { data: ignore }

const LOST = new Error('backend connection lost')
const EARLY = new Error('backend answered before the request ended')
const HEAD = 0
const BODY = 1
/** The response is whole; the request may not be. */
const ENDED = 2
const DEAD = 3

const MAX_HEAD = 262_144
const MAX_HEADERS = 500

const EARLY_MS = 1_000
