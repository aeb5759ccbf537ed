import type { Links } from '../../collections/linked-set.ts'
import { contained, InternalFault, reportFault } from '../../runtime/faults.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import { CANCEL, PROTOCOL_ERROR } from '../../http2/frames.ts'
import { type OutputOwner, StreamOutput } from '../../http2/output.ts'
import type { ResponseFields } from './response-fields.ts'
import type { ResponseStream } from './response-frames.ts'
import { StreamSocket } from '../../exchange/stream-socket.ts'
import { ACCEPT_HEADER, acceptOf, KEY_HEADER } from '../../websocket/websocket-handshake.ts'
import type { CarriedCall, Carrier } from './http2-carrier.ts'
import { lostCall, refusedCall, resetCall } from './http2-lost-call.ts'
import { type BodyOwner, Http2RequestBody } from './http2-request-body.ts'
import { connectBlock, requestBlock, tunnelBlock } from './http2-request-fields.ts'
import { BODY, DEAD, ENDED, HEAD, Http2ResponseBody, type ResponseOwner } from './http2-response-body.ts'
import { NoTunnels } from '../no-tunnels.ts'
import {
  HEAD_LOOKS,
  internalFailure,
  MAX_INTERIMS,
  noResponse,
  tellFailed,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
} from '../upstream-types.ts'

/** One request on an HTTP/2 connection, from its head to the end of its stream. */
export class Http2Call implements CarriedCall, ResponseStream, BodyOwner, ResponseOwner, OutputOwner, Links<Http2Call> {
  output = UNOPENED
  before: Http2Call | null = null
  after: Http2Call | null = null
  isListed = false
  /** Whether the backend has ended its side of the stream. */
  inputEnded = false
  /** Whether nothing more is sent or received. */
  isClosed = false

  readonly #connection: Carrier<Http2Call>
  readonly #request: UpstreamRequest
  readonly #body: Http2RequestBody
  readonly #response = new Http2ResponseBody(this, LOST)
  #handler: UpstreamHandler | null
  #interims = 0
  #looks = 0
  /** The error that the call is about to fail with. */
  #doom: UpstreamError | null = null
  readonly #sentAt: number
  /** Whether the connection carried other calls before, and nothing has arrived for this call. */
  #mayBeStale: boolean

  constructor(connection: Carrier<Http2Call>, request: UpstreamRequest, handler: UpstreamHandler) {
    this.#connection = connection
    this.#body = new Http2RequestBody(this, connection)
    this.#mayBeStale = connection.calls > 0
    this.#sentAt = connection.now()
    this.#request = request
    this.#handler = handler
  }

  start(): void {
    const { method, body, upgrade } = this.#request
    if (this.isClosed) return
    if (this.#request.opensTunnel === true) return this.#openStream(connectBlock(this.#request))
    if (method === 'CONNECT') {
      return this.#failSoon(new UpstreamError('bad_response', 'CONNECT is not supported to HTTP/2 backends', true))
    }
    const { scheme } = this.#connection
    if (upgrade !== '') return this.#connection.whenSettled((takesTunnels) => this.#openTunnel(takesTunnels))
    const hasBody = body.length !== 0
    const block = requestBlock(this.#request, scheme)
    if (!this.#connection.open(this, block, !hasBody)) return this.#failSoon(refusedCall())
    if (hasBody) body.pipe(this.#body)
    else this.#body.isDone = true
  }

  /** Requests another protocol inside the stream (RFC 8441). */
  #openTunnel(takesTunnels: boolean): void {
    if (this.isClosed) return
    if (!takesTunnels) return this.#failSoon(new NoTunnels())
    this.#openStream(tunnelBlock(this.#request, this.#connection.scheme))
  }

  #openStream(block: string): void {
    if (!this.#connection.open(this, block, false)) this.#failSoon(refusedCall())
    this.#connection.flush()
  }

  /** Fails asynchronously, so that the caller gets the call first. */
  #failSoon(error: UpstreamError): void {
    this.#doom = error
    queueMicrotask(() => {
      if (this.isClosed) return
      this.#connection.ended(this)
      this.#fail(error)
    })
  }

  get #isTunnel(): boolean {
    return this.#request.upgrade !== '' || this.#request.opensTunnel === true
  }

  // Frames from the backend.

  get awaitsHead(): boolean {
    return this.#response.state === HEAD
  }

  takeHead(fields: ResponseFields, ends: boolean): void {
    const { status, problem, contentLength } = fields
    this.#mayBeStale = false
    if (problem !== null) return this.#refuseHead(problem, status !== 0)
    if (status < 200) return this.#takeInterim(fields, ends)
    const isBodyless = this.#request.method === 'HEAD' || status === 204 || status === 304
    if (ends && !isBodyless && contentLength > 0) return this.refuse(WRONG_LENGTH, PROTOCOL_ERROR)
    try {
      this.#connection.heard(true)
      this.#respond(status, fields.toHeaders(), ends || isBodyless ? 0 : contentLength, ends)
    } catch (error) {
      this.faulted(error)
    }
  }

  #takeInterim(fields: ResponseFields, ends: boolean): void {
    if (ends || fields.status === 101 || fields.contentLength !== -1) return this.#refuseHead('bad_interim', false)
    if (++this.#interims > MAX_INTERIMS) return this.refuse('too many interim responses', CANCEL)
    try {
      this.#connection.heard(false)
      this.#handler?.informed(fields.status, fields.toHeaders())
    } catch (error) {
      this.faulted(error)
    }
  }

  #respond(status: number, headers: HeaderBlock, length: number, ends: boolean): void {
    const handler = this.#handler
    if (handler === null) return
    this.#handler = null
    if (ends) this.#endInput()
    try {
      this.#answer(handler, status, headers, length)
    } catch (error) {
      // `faulted` notifies the handler.
      this.#handler = handler
      throw error
    }
  }

  #answer(handler: UpstreamHandler, status: number, headers: HeaderBlock, length: number): void {
    const response = this.#response
    if (this.#isTunnel) {
      if (status >= 200 && status < 300 && !this.inputEnded) return this.#join(handler, status, headers)
      // The tunnel was rejected: the response says why, and the request has no more data.
      this.#body.end(null)
    }
    response.length = length
    response.isWhole = length === 0
    response.state = length === 0 ? ENDED : BODY
    handler.responded({ status, headers, body: response })
    if (length !== 0) this.#connection.flushAfterRead(this)
  }

  #join(handler: UpstreamHandler, status: number, headers: HeaderBlock): void {
    this.#response.state = BODY
    const key = this.#request.headers.get(KEY_HEADER)
    // A client that sent the HTTP/1.1 handshake expects `sec-websocket-accept`.
    if (key !== null && !headers.has(ACCEPT_HEADER)) headers.add(ACCEPT_HEADER, acceptOf(key))
    const socket = new StreamSocket({
      input: this.#response,
      output: this.#body,
      reset: (cause) => this.cancel(cause),
      isLeaving: () => this.#connection.isLeaving,
    })
    const { upgrade } = this.#request
    // Clients of HTTP/1.1 expect 101 for another protocol; a CONNECT keeps its status.
    handler.upgraded(upgrade === '' ? status : 101, headers, { socket, early: null }, upgrade)
  }

  takeData(chunk: Buffer, padding: number, ends: boolean): boolean {
    const response = this.#response
    if (!response.count(chunk.length, padding)) return false
    if (response.state === HEAD) this.refuse('response has no head', PROTOCOL_ERROR)
    else if (!response.hasRightLength(ends)) this.refuse(WRONG_LENGTH, PROTOCOL_ERROR)
    else this.#takePart(chunk, padding, ends)
    return true
  }

  #takePart(chunk: Buffer, padding: number, ends: boolean): void {
    const response = this.#response
    try {
      this.#connection.heard(false)
      if (ends) this.#endInput()
      if (padding > 0) response.giveBack(padding)
      if (chunk.length > 0) response.take(chunk)
      if (ends) response.takeEnd(null)
      else this.#connection.flushAfterRead(this)
    } catch (error) {
      this.faulted(error)
    }
  }

  takeTrailers(trailers: HeaderBlock): void {
    if (!this.#response.hasRightLength(true)) return this.refuse(WRONG_LENGTH, PROTOCOL_ERROR)
    try {
      this.#connection.heard(false)
      this.#endInput()
      this.#response.takeEnd(trailers)
    } catch (error) {
      this.faulted(error)
    }
  }

  #endInput(): void {
    this.inputEnded = true
    if (this.output.isOver) this.#connection.ended(this)
  }

  takeReset(code: number): void {
    const { awaitsHead } = this
    this.#connection.ended(this)
    this.#fail(resetCall(code, awaitsHead))
  }

  #refuseHead(problem: string, hasInvalidHeader: boolean): void {
    const message = `malformed response head (${problem})`
    this.#end(new UpstreamError('bad_response', message, false, { hasInvalidHeader }), PROTOCOL_ERROR)
  }

  refuse(message: string, code: number): void {
    this.#end(new UpstreamError('bad_response', message, false), code)
  }

  /** Fails the call because the backend's GOAWAY says that it did not process the stream. */
  disown(because: string): void {
    this.#fail(this.awaitsHead ? refusedCall() : lostCall(false, false, because))
  }

  /**
   * Fails the call because the connection is gone. `because` is an error for all its calls, a reason, or null for a
   * plain close.
   */
  lose(because: UpstreamError | string | null): void {
    if (because instanceof UpstreamError) this.#fail(because)
    else this.#fail(lostCall(this.awaitsHead, this.#mayBeStale, because))
  }

  /** Delivers the data of a read. */
  flushResponse(): void {
    try {
      this.#response.flush()
    } catch (error) {
      this.faulted(error)
    }
  }

  // Requests from the consumer and the pool.

  look(): void {
    if (!this.awaitsHead || (!this.#body.isDone && !this.#isTunnel) || this.#request.limitsHead !== true) return
    if (++this.#looks > HEAD_LOOKS) this.#end(noResponse(), CANCEL)
  }

  cancel(cause: Error): void {
    const response = this.#response
    if (response.state === ENDED && this.#body.isDone) return
    if (!response.isWhole && response.state !== DEAD) this.#connection.gaveUp(this.#sentAt)
    this.#handler = null
    contained('request', () => response.die(cause))
    contained('request', () => this.#body.drop(cause))
    if (!this.isClosed) this.#connection.reset(this, CANCEL)
  }

  grant(bytes: number): void {
    if (!this.inputEnded && !this.isClosed) this.#connection.grant(this.output.id, bytes)
  }

  flush(): void {
    this.#connection.flush()
  }

  outputDrained(): void {
    try {
      this.#body.source?.resume()
    } catch (error) {
      this.faulted(error)
    }
  }

  outputEnded(): void {
    if (this.inputEnded && !this.isClosed) this.#connection.ended(this)
  }

  /** Ends the call after the consumer of the response has thrown; pending handlers and sinks get the failure. */
  faulted(error: unknown): void {
    reportFault(error, 'request')
    const handler = this.#handler
    const { sink } = this.#response
    contained('request', () => this.cancel(new InternalFault()))
    if (handler !== null) tellFailed(handler, internalFailure())
    if (sink !== null) contained('request', () => sink.abort(new InternalFault()))
  }

  /** Resets the stream and fails the call. */
  #end(error: UpstreamError, code: number): void {
    if (!this.isClosed) this.#connection.reset(this, code)
    this.#fail(error)
  }

  /** Reports a failure unless the response is complete; the stream is closed. */
  #fail(cause: UpstreamError): void {
    const error = this.#doom ?? cause
    const response = this.#response
    const handler = this.#handler
    const sink = response.isWhole ? null : response.sink
    this.#handler = null
    if (!response.isWhole) contained('request', () => response.die(error))
    contained('request', () => this.#body.drop(response.isWhole ? EARLY : error))
    if (handler !== null) tellFailed(handler, error)
    if (sink !== null) contained('request', () => sink.abort(error))
  }
}

const UNOPENED = new StreamOutput(0, { outputDrained() {}, outputEnded() {} }, 0)
const LOST = new Error('backend connection lost')
const EARLY = new Error('backend answered before the request ended')
const WRONG_LENGTH = 'response body is not as long as announced'
