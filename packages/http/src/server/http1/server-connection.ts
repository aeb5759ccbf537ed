import { Deadline, type Deadlines } from '../../runtime/deadlines.ts'
import type {
  ConnectionInfo,
  ExchangeHandler,
  ExchangeObserver,
  RawConnection,
  RawStream,
} from '../../exchange/exchange.ts'
import { InternalFault, reportFault } from '../../runtime/faults.ts'
import { GatheringWriter } from '../../socket/gathering-writer.ts'
import { lingeringClose } from '../../socket/lingering-close.ts'
import { readerOf, type SocketReader } from '../../socket/socket-reader.ts'
import { CR, latin1, LF } from '../../http1/chars.ts'
import { HEAD_END, type HeadLimits, type HeadProblem, MessageHead, parseRequestHead } from '../../http1/head.ts'
import { type ExchangeHost, Http1Exchange, statusLine } from './server-exchange.ts'
import { readTarget } from '../../http1/target.ts'
import { unfinishedProblem } from '../../http1/unfinished-head.ts'

export interface Http1ServerOptions {
  handler: ExchangeHandler
  deadlines: Deadlines
  maxHeaders: number
  /** Milliseconds between requests, and for a client that reads nothing of its response. */
  idleTimeoutMs: number
  /** Milliseconds after which the connection ends with the response in progress; 0 disables the limit. */
  maxDurationMs: number
  /** Called for every rejected head or body, with a stable code. */
  onRefused(info: ConnectionInfo, status: number, code: string): void
  onClosed(connection: Http1ServerConnection): void
}

/** One client connection: reads requests one after the other and responds in order. */
export class Http1ServerConnection implements ExchangeHost {
  readonly info: ConnectionInfo
  readonly writer: GatheringWriter
  closing = false

  readonly #socket: RawStream
  readonly #reader: SocketReader
  readonly #options: Http1ServerOptions
  readonly #limits: HeadLimits
  readonly #deadline = new Deadline(() => this.#expired())
  #endOfLife: Deadline | null = null
  #exchange: Http1Exchange | null = null
  /** Unconsumed bytes, from `#at`. */
  #input: Buffer | null = null
  #at = 0
  /** There is no empty line before this position, so a head that trickles in is scanned once. */
  #scanned = 0
  #headStarted = false
  #pumping = false
  #readPaused = false
  /** Bytes that a half-closed client had received at the last check. */
  #writtenBefore = 0
  #stuckMs = 0
  #inputEnded = false
  #detached = false
  #quietMs = QUIET_MS

  constructor(
    socket: RawStream,
    info: ConnectionInfo,
    options: Http1ServerOptions,
    reader: SocketReader = readerOf(socket),
  ) {
    this.#socket = socket
    this.#reader = reader
    this.info = info
    this.#options = options
    this.#limits = { maxHeaders: options.maxHeaders, maxTarget: MAX_TARGET }
    this.writer = new GatheringWriter(socket)
    options.deadlines.set(this.#deadline, options.idleTimeoutMs)
    if (options.maxDurationMs > 0) {
      this.#endOfLife = new Deadline(() => this.drain(AGED_QUIET_MS))
      options.deadlines.set(this.#endOfLife, options.maxDurationMs)
    }
    reader.start(this.#onData, this.#onGlance)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('error', ignore)
    socket.on('close', this.#onClose)
  }

  /** Starts with bytes that were already read. */
  start(first: Buffer): void {
    this.#onData(first)
    if (!this.#readPaused) this.#socket.resume()
  }

  /**
   * Sends `connection: close` with the next response. A client that gets no such response may have a request on its
   * way, so an idle connection is closed only after it has been quiet for `quietMs`.
   */
  drain(quietMs: number = QUIET_MS): void {
    this.closing = true
    this.#quietMs = quietMs
    if (this.#exchange === null && !this.#headStarted && !this.#detached) {
      this.#options.deadlines.set(this.#deadline, quietMs)
    }
  }

  /**
   * For a connection accepted while the gateway drains: its first request is answered, if it arrives in that time, and
   * is the last.
   */
  drainSoon(milliseconds: number): void {
    this.drain(milliseconds)
  }

  destroy(cause: Error): void {
    // Over TLS, the missing close_notify reveals the truncation; only plain TCP can be reset.
    if (this.#exchange?.mustReset === true && this.info.scheme === 'http') this.#socket.resetAndDestroy()
    else this.#socket.destroy()
    this.#exchange?.fail(cause)
  }

  /** Visits the observer of the request in progress, also on a connection that was taken over. */
  eachObserver(visit: (observer: ExchangeObserver | null) => void): void {
    if (this.#exchange !== null) visit(this.#exchange.observer)
  }

  wantInput(): void {
    if (!this.#pumping) this.#pump()
  }

  responseDone(): void {
    if (!this.#pumping) this.#pump()
  }

  detach(): RawConnection {
    this.#detached = true
    const socket = this.#socket
    this.#options.deadlines.clear(this.#deadline)
    this.#reader.release()
    socket.off('end', this.#onEnd)
    socket.off('drain', this.#onDrain)
    socket.pause()
    const early = this.#input === null ? null : this.#input.subarray(this.#at)
    this.#input = null
    return { socket, early }
  }

  /** Fast path: most requests are only a head that arrives in one piece. */
  readonly #onGlance = (bytes: Buffer, length: number): boolean => {
    if (this.#input !== null || this.#exchange !== null || length > SHORT_HEAD) return false
    // A detached connection does not read: its reader is released.
    if (this.#socket.destroyed || this.#socket.writableNeedDrain) return false
    if (bytes[0] === CR || bytes[length - 1] !== LF) return false
    const text = latin1(bytes, 0, length)
    const end = text.indexOf(HEAD_END)
    if (end === -1 || end + HEAD_END.length !== length) return false
    this.#pumping = true
    try {
      this.#begin(text)
    } catch (error) {
      this.#faulted(error)
    }
    this.#pump()
    return true
  }

  readonly #onData = (chunk: Buffer): void => {
    const before = this.#input
    if (before === null) {
      this.#input = chunk
      this.#scanned = 0
    } else {
      this.#input = Buffer.concat([before.subarray(this.#at), chunk])
      this.#scanned = Math.max(0, this.#scanned - this.#at)
    }
    this.#at = 0
    this.#pump()
  }

  readonly #onEnd = (): void => {
    this.#inputEnded = true
    try {
      this.#endOfInput()
    } catch (error) {
      this.#faulted(error)
    }
  }

  /** The end may arrive while reading is paused: earlier bytes are processed first. */
  #endOfInput(): void {
    const exchange = this.#exchange
    if (exchange === null) {
      if (this.#input === null || !this.#socket.writableNeedDrain) this.#leave()
    } else if (this.#input !== null) {
      return
    } else if (!exchange.requestDone) {
      this.destroy(new Error('client closed the connection inside a request'))
    } else {
      // A client may stop sending and still read; a half-closed client that gets nothing for a while is considered
      // gone.
      exchange.close = true
      this.#writtenBefore = this.#socket.bytesWritten
      this.#options.deadlines.set(this.#deadline, HALF_CLOSED_MS)
    }
  }

  readonly #onDrain = (): void => {
    // The client read something: only a client that reads nothing for the whole timeout is disconnected.
    if (!this.#headStarted && !this.#detached) this.#options.deadlines.set(this.#deadline, this.#patienceMs)
    if (this.#exchange === null) {
      if (!this.#pumping) this.#pump()
      return
    }
    try {
      this.#exchange.source?.resume()
    } catch (error) {
      this.#faulted(error)
    }
  }

  readonly #onClose = (): void => {
    this.#options.deadlines.clear(this.#deadline)
    if (this.#endOfLife !== null) this.#options.deadlines.clear(this.#endOfLife)
    const exchange = this.#exchange
    this.#exchange = null
    this.#options.onClosed(this)
    if (!this.#detached) exchange?.fail(new Error('client closed the connection'))
  }

  /**
   * Called when a callback of the request in progress has thrown. Its observer responds or resets. The connection
   * carries no further request, because the consumed part of the input is unknown.
   */
  #faulted(error: unknown): void {
    const exchange = this.#exchange
    this.closing = true
    this.#input = null
    if (exchange !== null) return exchange.faulted(error)
    reportFault(error, 'connection')
    this.destroy(new InternalFault())
  }

  #expired(): void {
    const exchange = this.#exchange
    if (exchange === null) {
      if (this.#headStarted) this.#refuse(408, 'request_head_timeout')
      // Runs after the reads of this turn: a request may be unread in the socket.
      else setImmediate(leaveIfIdle, this)
    } else if (!exchange.requestDone && exchange.readable) {
      this.destroy(new Error('client stopped sending inside a request'))
    } else if (this.#inputEnded && exchange.requestDone) {
      this.#lookAfterHalfClosed()
    } else if (this.#socket.writableNeedDrain) {
      this.destroy(new Error('client stopped reading'))
    } else this.#options.deadlines.set(this.#deadline, this.#options.idleTimeoutMs)
  }

  /** Milliseconds that the connection may be inactive. */
  get #patienceMs(): number {
    return this.closing && this.#exchange === null ? this.#quietMs : this.#options.idleTimeoutMs
  }

  /** Closes the connection unless a request has arrived. */
  leaveIfIdle(): void {
    if (this.#exchange === null && !this.#headStarted && !this.#detached && !this.#deadline.isSet) this.#leave()
  }

  /** A slow reader may continue; a half-closed client that gets nothing, or reads nothing for long, is disconnected. */
  #lookAfterHalfClosed(): void {
    const { bytesWritten, writableNeedDrain } = this.#socket
    const isStuck = bytesWritten === this.#writtenBefore
    this.#stuckMs = isStuck ? this.#stuckMs + HALF_CLOSED_MS : 0
    if (isStuck && (!writableNeedDrain || this.#stuckMs >= this.#options.idleTimeoutMs)) {
      return this.destroy(new Error('client has left'))
    }
    this.#writtenBefore = bytesWritten
    this.#options.deadlines.set(this.#deadline, HALF_CLOSED_MS)
  }

  /** Consumes the available input, in a loop, so that pipelined requests do not nest. */
  #pump(): void {
    this.#pumping = true
    try {
      this.#consume()
    } catch (error) {
      this.#faulted(error)
    }
    this.#pumping = false
    // The response to a fault may be complete by now.
    if (this.#exchange !== null && this.#exchange.responseDone && this.closing) this.#consume()
    if (this.#inputEnded && !this.#detached) this.#endOfInput()
    else this.#adjustReading()
  }

  #consume(): void {
    while (!this.#detached && !this.#socket.destroyed) {
      const exchange = this.#exchange
      const input = this.#input
      if (exchange === null) {
        // A client that pipelines requests without reading must not fill our memory with responses.
        if (input === null || this.#socket.writableNeedDrain || !this.#startRequest(input)) break
      } else if (!exchange.requestDone && exchange.readable && input !== null) {
        if (!this.#feedBody(exchange, input)) break
      } else if (exchange.responseDone && !exchange.dropping) {
        if (!this.#finish(exchange)) break
      } else break
    }
  }

  /** Returns true when an exchange began. */
  #startRequest(input: Buffer): boolean {
    let at = this.#at
    if (input[at] === CR && !this.#headStarted) {
      // Empty lines before a request are tolerated (RFC 9112 section 2.2).
      while (input[at] === CR && input[at + 1] === LF) at += 2
      if (at === input.length) {
        this.#input = null
        return false
      }
      this.#at = at
      // This may be half of an empty line: the next byte decides.
      if (input[at] === CR && at + 1 === input.length) return false
    }
    const end = input.indexOf(HEAD_END, Math.max(at, this.#scanned), 'latin1')
    const size = (end === -1 ? input.length : end + HEAD_END.length) - at
    if (size > MAX_HEAD) {
      const tooLongLine = input.indexOf('\r\n', at, 'latin1')
      return this.#refuse(tooLongLine === -1 || tooLongLine - at > MAX_TARGET + 64 ? 414 : 431, 'head_too_large')
    }
    if (end === -1) {
      const problem = unfinishedProblem(input, at, this.#scanned)
      if (problem !== null) return this.#refuse(problem.status, problem.code)
      this.#scanned = Math.max(at, input.length - 3)
      if (!this.#headStarted && size > 0) {
        this.#headStarted = true
        this.#options.deadlines.set(this.#deadline, HEAD_MS)
      }
      return false
    }
    const text = latin1(input, at, end + 4)
    this.#consumeTo(end + 4, input)
    this.#headStarted = false
    return this.#begin(text)
  }

  /** Returns true when the head is valid and its exchange began. */
  #begin(text: string): boolean {
    const head = parseRequestHead(text, this.#limits)
    if (!(head instanceof MessageHead)) return this.#refuse(head.status, head.code)
    const framing = framingProblem(head)
    if (framing !== null) return this.#refuse(framing.status, framing.code)
    const target = readTarget(head.method, head.target, head.host, head.isPlainTarget)
    if ('problem' in target) return this.#refuse(400, target.problem)
    this.#options.deadlines.set(this.#deadline, this.#options.idleTimeoutMs)
    const exchange = new Http1Exchange(this, head, target.authority, target.target)
    this.#exchange = exchange
    this.#options.handler(exchange)
    return true
  }

  #feedBody(exchange: Http1Exchange, input: Buffer): boolean {
    this.#options.deadlines.set(this.#deadline, STALL_MS)
    const next = exchange.feed(input, this.#at)
    if (next === -1) {
      if (exchange.started) this.destroy(new Error('request body is malformed'))
      else {
        exchange.fail(new Error('request body is malformed'))
        this.#refuse(400, 'bad_chunk')
      }
      return false
    }
    this.#consumeTo(next, input)
    return true
  }

  /** Returns true when the next request may be read. */
  #finish(exchange: Http1Exchange): boolean {
    this.#exchange = null
    const early = !exchange.requestDone
    if (early) exchange.fail(new Error('answered before the request ended'))
    // After a response that preceded the end of the body, the next request cannot be found cheaply.
    if (exchange.close || early || (this.#inputEnded && this.#input === null)) {
      this.#leave()
      return false
    }
    // The head of this response may have been sent before the drain began.
    this.#options.deadlines.set(this.#deadline, this.#patienceMs)
    return this.#input !== null
  }

  #refuse(status: number, code: string): false {
    this.#options.onRefused(this.info, status, code)
    const body = REFUSALS[code] ?? code.replaceAll('_', ' ')
    this.writer.text(
      `${statusLine(status)}content-type: text/plain\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    )
    this.writer.flush()
    this.#leave()
    return false
  }

  #leave(): void {
    this.#detached = true
    this.#exchange = null
    this.#input = null
    this.#options.deadlines.clear(this.#deadline)
    this.#reader.release()
    this.#socket.off('end', this.#onEnd)
    lingeringClose(this.#socket, this.#options.deadlines)
  }

  #consumeTo(position: number, input: Buffer): void {
    if (position === input.length) this.#input = null
    else this.#at = position
    this.#scanned = 0
  }

  /** Input that is not consumed stays in the kernel: memory per connection is bounded by one read. */
  #adjustReading(): void {
    if (this.#detached) return
    const exchange = this.#exchange
    const waiting = this.#input !== null && (exchange === null ? this.#socket.writableNeedDrain : !exchange.readable)
    const unread = exchange !== null && !exchange.requestDone && !exchange.readable
    const pause = waiting || unread
    if (pause === this.#readPaused) return
    this.#readPaused = pause
    if (pause) this.#socket.pause()
    else this.#socket.resume()
  }
}

/** Checks framing rules that involve several fields. */
function framingProblem(head: MessageHead): HeadProblem | null {
  if (head.foreignCoding) return { status: 400, code: 'unknown_transfer_encoding' }
  // A body of a CONNECT has no meaning, and parsers disagree on where the tunnel begins.
  if (head.method === 'CONNECT' && (head.chunked || head.contentLength > 0))
    return { status: 400, code: 'connect_with_body' }
  if (!head.chunked) return null
  if (head.contentLength !== -1) return { status: 400, code: 'length_and_encoding' }
  return head.minor === 0 ? { status: 400, code: 'encoding_in_http10' } : null
}

function ignore(): void {}

function leaveIfIdle(connection: Http1ServerConnection): void {
  connection.leaveIfIdle()
}

const REFUSALS: Record<string, string> = {
  length_and_encoding: 'both Content-Length and Transfer-Encoding',
  missing_host: 'missing Host',
  tls_on_plain_port: 'this port speaks HTTP without TLS',
}

/** The most bytes of a read that are parsed before they are copied. */
const SHORT_HEAD = 4096
const MAX_HEAD = 65536
const MAX_TARGET = 32768
/** Milliseconds from the first byte of a head to its end. */
export const HEAD_MS = 60_000
/** Milliseconds without progress of a request body. */
const STALL_MS = 60_000
const HALF_CLOSED_MS = 1_000
/** Milliseconds that a draining connection waits for one more request. */
const QUIET_MS = 10_000
/** The same time for a connection that has reached its maximum duration. */
const AGED_QUIET_MS = 1_000
