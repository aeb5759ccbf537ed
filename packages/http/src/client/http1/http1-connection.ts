import type { RawStream } from '../../exchange/exchange.ts'
import { contained, reportFault } from '../../runtime/faults.ts'
import { GatheringWriter } from '../../socket/gathering-writer.ts'
import { latin1 } from '../../http1/chars.ts'
import { HEAD_END } from '../../http1/head.ts'
import { readerOf, type SocketReader } from '../../socket/socket-reader.ts'
import { type CallHost, Http1Call } from './http1-call.ts'
import type { UpstreamCall, UpstreamHandler, UpstreamRequest } from '../upstream-types.ts'

/** Notified when a connection becomes idle or closes. */
export interface ConnectionOwner {
  /** The connection is ready for another request. */
  idle(connection: Http1Connection): void
  closed(connection: Http1Connection): void
}

/** One HTTP/1.1 connection to a backend; carries one call at a time. */
export class Http1Connection implements CallHost {
  readonly socket: RawStream
  readonly writer: GatheringWriter
  /** Calls carried before the current call. */
  calls = 0
  /** When the connection became idle, for the pool. */
  idleSince = 0
  /** Milliseconds until the backend may close the idle connection, as announced by the backend. */
  staysMs = Infinity

  readonly #owner: ConnectionOwner
  readonly #reader: SocketReader
  #call: Http1Call | null = null
  #input: Buffer | null = null
  #ended = false

  constructor(socket: RawStream, owner: ConnectionOwner, reader: SocketReader = readerOf(socket)) {
    this.socket = socket
    this.#reader = reader
    this.#owner = owner
    this.writer = new GatheringWriter(socket)
    reader.start(this.#onData, this.#onGlance)
    socket.on('drain', this.#onDrain)
    socket.on('end', this.#onEnd)
    socket.on('error', ignore)
    socket.on('close', this.#onClose)
  }

  get usable(): boolean {
    const { destroyed, writable, isLeaving } = this.socket
    return this.#call === null && !this.#ended && !destroyed && writable && isLeaving !== true
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    const call = new Http1Call(this, request, handler)
    this.#call = call
    try {
      call.start()
    } catch (error) {
      // Part of a request may have been written.
      this.#call = null
      this.socket.destroy()
      throw error
    }
    return call
  }

  /** Called once every `LOOK_MS`. */
  look(): void {
    this.#call?.look()
  }

  /** Passes on bytes that a paused call left unread, and continues reading. */
  resumeReading(): void {
    const input = this.#input
    this.#input = null
    if (input !== null) this.#onData(input)
    if (this.#input !== null) return
    // These bytes may have completed the call: the next call, or the end of the idle connection, must be read too.
    if (this.#ended) this.#call?.inputEnded()
    else this.socket.resume()
  }

  finished(reusable: boolean): void {
    this.#call = null
    this.calls++
    // Extra bytes after the response would be read as the response to the next request.
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

  /** Most heads arrive whole, with a short body: only the body is copied. Most events of a stream arrive whole too. */
  readonly #onGlance = (bytes: Buffer, length: number): boolean => {
    const call = this.#call
    if (call === null || this.#input !== null || length > SHORT) return false
    try {
      return call.awaitsHead ? this.#takeHead(call, bytes, length) : call.receiveFramed(bytes, length)
    } catch (error) {
      this.#faulted(call, error)
      return true
    }
  }

  #takeHead(call: Http1Call, bytes: Buffer, length: number): boolean {
    const text = latin1(bytes, 0, length)
    const end = text.indexOf(HEAD_END)
    if (end === -1) return false
    const bodyAt = end + HEAD_END.length
    this.#keep(call, call.receiveHead(text, bodyAt, bodyAt === length ? null : copied(bytes, bodyAt, length)))
    return true
  }

  readonly #onData = (chunk: Buffer): void => {
    const call = this.#call
    if (call === null) {
      // Bytes on an idle connection would be read as the response to a request that is not sent yet.
      this.socket.destroy()
      return
    }
    const bytes = this.#input === null ? chunk : Buffer.concat([this.#input, chunk])
    this.#input = null
    try {
      this.#keep(call, call.receive(bytes))
    } catch (error) {
      this.#faulted(call, error)
    }
  }

  /** Ends a call whose response consumer has thrown, and closes the connection. */
  #faulted(call: Http1Call, error: unknown): void {
    reportFault(error, 'request')
    if (this.#call === call) {
      this.#call = null
      this.#input = null
      this.socket.destroy()
    }
    call.faulted()
  }

  #keep(call: Http1Call, rest: Buffer | null): void {
    if (this.#call === call) this.#input = rest
  }

  readonly #onDrain = (): void => {
    const call = this.#call
    if (call === null) return
    try {
      call.source?.resume()
    } catch (error) {
      this.#faulted(call, error)
    }
  }

  readonly #onEnd = (): void => {
    this.#ended = true
    const call = this.#call
    if (call === null) return void this.socket.destroy()
    if (this.#input !== null && call.paused) return
    try {
      call.inputEnded()
    } catch (error) {
      this.#faulted(call, error)
    }
  }

  readonly #onClose = (): void => {
    const call = this.#call
    contained('worker', () => this.#owner.closed(this))
    // After a clean end, a paused call still has complete data to deliver; it continues when its sink resumes.
    if (call === null || (this.#ended && call.paused)) return
    this.#call = null
    try {
      call.connectionLost()
    } catch (error) {
      this.#faulted(call, error)
    }
  }
}

function copied(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from)
  bytes.copy(copy, 0, from, to)
  return copy
}

function ignore(): void {}

/** The most bytes of a read that are decoded as text. */
const SHORT = 4096
