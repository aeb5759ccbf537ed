import { STATUS_CODES } from 'node:http'
import type { Sink, Source } from '../../body/body.ts'
import type { ConnectionInfo, Exchange, ExchangeObserver, RawConnection } from '../../exchange/exchange.ts'
import { contained, InternalFault, reportFault } from '../../runtime/faults.ts'
import type { GatheringWriter } from '../../socket/gathering-writer.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import { ChunkedDecoder, lastChunk } from '../../http1/chunked.ts'
import type { MessageHead } from '../../http1/head.ts'

/** The connection of an exchange, as the exchange uses it. */
export interface ExchangeHost {
  readonly info: ConnectionInfo
  readonly writer: GatheringWriter
  /** Whether no further request will be read; the response then announces it. */
  readonly closing: boolean
  /** Called when more of the request may be read. */
  wantInput(): void
  responseDone(): void
  detach(): RawConnection
  destroy(cause: Error): void
}

/** One request on an HTTP/1 connection: the source of its body and the sink of its response. */
export class Http1Exchange implements Exchange, Sink, Source {
  readonly connection: ConnectionInfo
  readonly version: 'HTTP/1.0' | 'HTTP/1.1'
  readonly method: string
  readonly authority: string
  readonly target: string
  readonly headers: HeaderBlock
  readonly length: number
  readonly upgrade: string
  readonly teTrailers: boolean
  readonly claimsForwarding: boolean
  readonly hops: string
  observer: ExchangeObserver | null = null
  bytesIn = 0
  bytesOut = 0
  source: Source | null = null

  /** Whether the whole request has been read. */
  requestDone: boolean
  /** Whether the whole response has been handed to the socket. */
  responseDone = false
  /** Whether the connection ends after this response. */
  close: boolean

  readonly #host: ExchangeHost
  readonly #decoder: ChunkedDecoder | null
  #sink: Sink | null = null
  #remaining: number
  #mustContinue: boolean
  #failure: Error | null = null
  /** Whether the source of the body was canceled, so that further body bytes are dropped. */
  #discarding = false
  #dropping = false
  #blocked = false
  #flushIsDue = false
  #started = false
  #chunked = false
  /** Whether only the end of the connection ends the body. */
  #untilClose = false
  #bodyless = false
  /** Bytes sent on the connection before the head of this response. */
  #sentBefore = 0

  constructor(host: ExchangeHost, head: MessageHead, authority: string, target: string) {
    this.#host = host
    this.connection = host.info
    this.version = head.minor === 1 ? 'HTTP/1.1' : 'HTTP/1.0'
    this.method = head.method
    this.authority = authority
    this.target = target
    this.headers = head.headers
    this.teTrailers = head.teTrailers
    this.claimsForwarding = head.claimsForwarding
    this.hops = head.hops
    this.length = head.chunked ? -1 : Math.max(head.contentLength, 0)
    this.requestDone = this.length === 0
    this.close = head.close || (head.minor === 0 && !head.keepAlive)
    // RFC 9110 section 7.8: Upgrade is ignored in HTTP/1.0. With a body, the start of the new protocol is ambiguous.
    this.upgrade = head.minor === 1 && this.length === 0 ? head.upgrade : ''
    this.#decoder = head.chunked ? new ChunkedDecoder() : null
    this.#remaining = this.length
    this.#mustContinue = head.expectContinue && head.minor === 1
  }

  get body(): Source {
    return this
  }

  /** Whether body bytes may be fed now. */
  get readable(): boolean {
    return !this.requestDone && ((this.#sink !== null && !this.#blocked) || this.#discarding)
  }

  /** Whether the rest of the request is being dropped while its end is awaited. */
  get dropping(): boolean {
    return this.#dropping && !this.close && !this.requestDone
  }

  /** Whether the connection must be reset, because a plain close would make a partial response look complete. */
  get mustReset(): boolean {
    return this.#untilClose && !this.responseDone
  }

  get started(): boolean {
    return this.#started
  }

  // Source: the request body.

  pipe(sink: Sink): void {
    if (this.#failure !== null) return sink.abort(this.#failure)
    if (this.requestDone) return sink.end(null)
    this.#sink = sink
    sink.source = this
    if (this.#mustContinue && !this.#started) {
      this.#mustContinue = false
      this.#host.writer.text('HTTP/1.1 100 Continue\r\n\r\n')
      this.#host.writer.flush()
    }
    this.#host.wantInput()
  }

  resume(): void {
    if (!this.#blocked) return
    this.#blocked = false
    this.#host.wantInput()
  }

  cancel(): void {
    this.#sink = null
    this.#discarding = true
    this.#blocked = false
    if (!this.requestDone) this.#host.wantInput()
  }

  /** Reads body bytes from `at`; returns the position after them, or -1 when the framing is invalid. */
  feed(bytes: Buffer, at: number): number {
    if (this.#decoder !== null) {
      const next = this.#decoder.decode(bytes, at, this)
      if (this.#decoder.error !== null) return -1
      if (this.#decoder.done) this.#endRequest(this.#decoder.trailers)
      else this.flushRequest()
      return next
    }
    const take = Math.min(this.#remaining, bytes.length - at)
    this.#remaining -= take
    this.data(take === bytes.length ? bytes : bytes.subarray(at, at + take))
    if (this.#remaining === 0) this.#endRequest(null)
    else if (take < LARGE_CHUNK || this.connection.scheme === 'http') this.flushRequest()
    else if (!this.#flushIsDue) {
      this.#flushIsDue = true
      setImmediate(flushDue, this)
    }
    return at + take
  }

  /** Receives a piece of the decoded body. */
  data(chunk: Buffer): void {
    this.bytesIn += chunk.length
    this.#sink?.write(chunk)
  }

  /** Delivers the received part of the request. */
  flushRequest(): void {
    this.#flushIsDue = false
    if (this.#sink !== null && !this.#sink.flush()) this.#blocked = this.#sink !== null
  }

  #endRequest(trailers: HeaderBlock | null): void {
    // The sink is read after the write, because a write may have canceled this source.
    const sink = this.#sink
    this.requestDone = true
    this.#sink = null
    sink?.end(trailers)
  }

  /** Called when the client is gone, or its request is invalid. */
  fail(cause: Error): void {
    const sink = this.#sink
    const unanswered = !this.responseDone
    // A body that broke off must not look complete to a later reader.
    if (!this.requestDone) this.#failure = cause
    // Both flags are set first: a notified callback may try to respond, and must not.
    this.#sink = null
    this.requestDone = true
    this.responseDone = true
    if (sink !== null) contained('connection', () => sink.abort(cause))
    if (!unanswered) return
    const { source } = this
    this.source = null
    if (source !== null) contained('connection', () => source.cancel(cause))
    this.observer?.gone(cause)
  }

  /**
   * Called when a callback of the exchange has thrown: the observer responds or resets, and nothing more of the request
   * is read.
   */
  faulted(error: unknown): void {
    if (this.observer?.faulted !== undefined) this.observer.faulted(error)
    else {
      reportFault(error, 'connection')
      this.reset(new InternalFault())
    }
    if (!this.requestDone) this.cancel()
  }

  // The response, and its sink.

  inform(status: number, headers: HeaderBlock): void {
    if (this.version === 'HTTP/1.0' || this.#started || this.responseDone) return
    this.#host.writer.text(statusLine(status) + headers.toText() + '\r\n')
    this.#host.writer.flush()
  }

  respond(status: number, headers: HeaderBlock, length: number): Sink {
    this.#started = true
    // The client is gone, or already got an error response.
    if (this.responseDone) return this
    this.#sentBefore = this.#host.writer.sent
    if (!this.requestDone) {
      if (this.#sink === null) this.#dropBody()
      // Whether the rest of the request arrives in time is not known yet.
      else this.close = true
    }
    if (this.#host.closing) this.close = true
    let framing = ''
    if (status === 204 || status === 304 || this.method === 'HEAD') {
      this.#bodyless = true
      if (status === 204) headers.remove('content-length')
    } else if (length >= 0) {
      const announced = headers.get('content-length')
      // A policy that changed method or status may have left the length of another body. The lengths are compared as
      // strings, because parsing a number costs a call into the runtime.
      if (announced === null) framing = 'content-length: ' + length + '\r\n'
      else if (announced !== String(length)) headers.set('content-length', String(length))
    } else {
      headers.remove('content-length')
      if (this.version === 'HTTP/1.1') {
        this.#chunked = true
        framing = 'transfer-encoding: chunked\r\n'
      } else {
        this.close = true
        this.#untilClose = true
      }
    }
    if (this.close) framing += 'connection: close\r\n'
    else if (this.version === 'HTTP/1.0') framing += 'connection: keep-alive\r\n'
    this.#host.writer.text(statusLine(status) + headers.toText() + framing + '\r\n')
    return this
  }

  /** A short unread body is dropped; a long body would cost more than a new connection. */
  #dropBody(): void {
    if (this.#remaining < 0 || this.#remaining > MAX_DROPPED || this.#mustContinue) this.close = true
    else this.#dropping = this.#discarding = true
  }

  write(chunk: Buffer): void {
    if (this.#bodyless || this.responseDone || chunk.length === 0) return
    this.bytesOut += chunk.length
    const writer = this.#host.writer
    if (this.#chunked) writer.chunk(chunk)
    else writer.bytes(chunk)
  }

  get takesFramed(): boolean {
    return this.#chunked && !this.#bodyless && !this.responseDone
  }

  writeFramed(framed: string, dataAt: number): boolean {
    if (!this.takesFramed) return false
    this.bytesOut += framed.length - dataAt - CHUNK_END
    this.#host.writer.text(framed)
    return true
  }

  flush(): boolean {
    return this.responseDone || this.#host.writer.flush()
  }

  end(trailers: HeaderBlock | null): void {
    if (this.responseDone) return
    if (this.#chunked) this.#host.writer.text(lastChunk(trailers))
    this.#host.writer.flush()
    this.responseDone = true
    this.source = null
    try {
      this.observer?.sent()
      this.#host.responseDone()
    } catch (error) {
      reportFault(error, 'connection')
      this.#host.destroy(new InternalFault())
    }
  }

  abort(cause: Error): void {
    this.source = null
    if (this.#takeBack() && this.observer?.unsent?.(cause) === true) return
    // A response that breaks off must not look complete: only closing the connection reveals that.
    this.#host.destroy(cause)
  }

  /** Discards a response of which nothing was sent yet; returns false when something was sent. */
  #takeBack(): boolean {
    const { writer } = this.#host
    if (!this.#started || this.responseDone || writer.sent !== this.#sentBefore) return false
    writer.discard()
    this.bytesOut = 0
    this.#started = false
    this.#chunked = false
    this.#untilClose = false
    this.#bodyless = false
    return true
  }

  takeOver(status: number, headers: HeaderBlock): RawConnection | null {
    const hop = status === 101 ? `connection: upgrade\r\nupgrade: ${this.upgrade}\r\n` : ''
    this.#host.writer.text(statusLine(status) + headers.toText() + hop + '\r\n')
    this.#host.writer.flush()
    this.responseDone = true
    return this.#host.detach()
  }

  reset(cause: Error): void {
    this.#host.destroy(cause)
  }
}

function flushDue(exchange: Http1Exchange): void {
  try {
    exchange.flushRequest()
  } catch (error) {
    exchange.faulted(error)
  }
}

/** Length of the line break after the data of a chunk. */
const CHUNK_END = 2
const MAX_DROPPED = 65536
/** TLS delivers one read in several records: all of them are forwarded in one write. */
const LARGE_CHUNK = 8192

const statusLines = new Map<number, string>()

/**
 * Returns `HTTP/1.1 200 OK` and the line end. Reason phrases are the gateway's own, because nothing may depend on them.
 */
export function statusLine(status: number): string {
  let line = statusLines.get(status)
  if (line === undefined) {
    line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
    statusLines.set(status, line)
  }
  return line
}
