import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2'
import { contained, InternalFault, reportFault } from '../telemetry/faults.ts'
import { HeaderBlock } from '../net/header-block.ts'
import { fieldsToObject, isEndToEnd, isTrailer, takeFields } from '../net/http2/fields.ts'
import { StreamSocket } from '../net/stream-socket.ts'
import { ACCEPT_HEADER, acceptOf, KEY_HEADER } from '../net/websocket-handshake.ts'
import type { CarriedCall, Carrier } from './http2-carrier.ts'
import { lostCallError } from './http2-lost-call.ts'
import { guarded, Http2RequestBody } from './http2-request-body.ts'
import { requestFields, tunnelFields } from './http2-request-fields.ts'
import { BODY, DEAD, ENDED, HEAD, Http2ResponseBody, type ResponseOwner } from './http2-response-body.ts'
import { letGo } from './let-go.ts'
import { NoTunnels } from './no-tunnels.ts'
import {
  HEAD_LOOKS,
  internalFailure,
  MAX_INTERIMS,
  noResponse,
  tellFailed,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
} from './upstream-types.ts'

/** The head of a response, as the runtime hands it out. */
interface Head {
  status: number
  flags: number
  raw: readonly string[]
}

/** One request on an HTTP/2 connection: from its head to the end of its stream. */
export class Http2Call implements CarriedCall, ResponseOwner {
  readonly #connection: Carrier
  readonly #request: UpstreamRequest
  readonly #body = new Http2RequestBody(this)
  readonly #response = new Http2ResponseBody(this, LOST)
  #handler: UpstreamHandler | null
  #stream: ClientHttp2Stream | null = null
  #interims = 0
  #looks = 0
  #mayHaveTrailers = false
  /** The backend has sent bytes that are not HTTP/2. */
  #isBroken = false
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
    const { method, body, upgrade } = this.#request
    if (method === 'CONNECT') {
      this.#response.cause = new UpstreamError('bad_response', 'no CONNECT to a backend of HTTP/2', true)
      return queueMicrotask(() => this.#closed())
    }
    if (upgrade !== '') return this.#connection.whenSettled((takesTunnels) => this.#openTunnel(session, takesTunnels))
    const hasBody = body.length !== 0
    const waitForTrailers = body.length === -1
    this.#mayHaveTrailers = waitForTrailers
    const fields = requestFields(this.#request, this.#connection.scheme)
    const stream = session.request(fields, { endStream: !hasBody, waitForTrailers })
    this.#listen(stream)
    if (!hasBody) {
      this.#body.isDone = true
      return
    }
    if (waitForTrailers) {
      stream.on('wantTrailers', () => stream.sendTrailers(fieldsToObject(this.#body.trailers, isTrailer)))
    }
    body.pipe(this.#body)
  }

  /** Asks for another protocol inside the stream (RFC 8441). */
  #openTunnel(session: ClientHttp2Session, takesTunnels: boolean): void {
    if (this.#response.state === DEAD) return this.#closed()
    if (!takesTunnels) {
      this.#response.cause = new NoTunnels()
      return queueMicrotask(() => this.#closed())
    }
    this.#listen(session.request(tunnelFields(this.#request, this.#connection.scheme), { endStream: false }))
  }

  #listen(stream: ClientHttp2Stream): void {
    this.#stream = stream
    this.#body.attach(stream)
    this.#response.attach(stream)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_HTTP2_ERROR') this.#isBroken = true
    })
    stream.on('headers', (fields, _flags, raw) => guarded(this, () => this.#informed(fields[':status'] ?? 0, raw)))
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

  heard(): void {
    this.#connection.heard(false)
  }

  cancel(cause: Error): void {
    const response = this.#response
    if (response.state === ENDED && this.#body.isDone) return
    if (response.state === HEAD || response.state === BODY) this.#connection.gaveUp(this.#sentAt)
    response.cause = cause
    this.#handler = null
    response.sink = null
    response.forget()
    const stream = this.#stream
    // The runtime ends a body before it resets the stream: half a request would look whole.
    if (!this.#body.isDone && stream !== null) stream.end = () => stream
    contained('request', () => this.#body.drop(cause))
    if (response.state !== ENDED) response.state = DEAD
    // The runtime puts off a reset from within its own callbacks, and meanwhile aborts the process when it asks for trailers.
    if (this.#mayHaveTrailers) setImmediate(() => stream?.close(constants.NGHTTP2_CANCEL))
    else stream?.close(constants.NGHTTP2_CANCEL)
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
      this.#response.state !== HEAD ||
      (!this.#body.isDone && this.#request.upgrade === '') ||
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
      this.#body.end(null)
    }
    const response = this.#response
    if (hasEnded || isBodyless(this.#request.method, status)) {
      response.length = 0
      response.state = ENDED
      // The stream closes only after its end was read.
      stream.resume()
    } else {
      response.state = BODY
      const announced = headers.get('content-length')
      response.length = announced === null ? -1 : Number(announced)
      stream.on('trailers', (_fields, _flags, trailers) => {
        response.trailers = new HeaderBlock()
        takeFields(response.trailers, trailers, isTrailer)
      })
    }
    handler.responded({ status, headers, body: response })
    if (isBody(response)) response.flushSoon()
    response.takeUnread()
  }

  #joined(handler: UpstreamHandler, headers: HeaderBlock): void {
    this.#response.state = BODY
    const key = this.#request.headers.get(KEY_HEADER)
    // A client that sent the HTTP/1.1 handshake expects `sec-websocket-accept`.
    if (key !== null && !headers.has(ACCEPT_HEADER)) headers.add(ACCEPT_HEADER, acceptOf(key))
    const ends = { input: this.#response, output: this.#body, reset: (cause: Error) => this.cancel(cause) }
    handler.upgraded(101, headers, { socket: new StreamSocket(ends), early: null }, this.#request.upgrade)
  }

  #closed(): void {
    this.#connection.finished(this)
    const response = this.#response
    response.endRead()
    if (response.state === ENDED || response.hasEnded) {
      if (!this.#body.isDone) contained('request', () => this.#body.drop(EARLY))
      return
    }
    const handler = this.#handler
    const error = this.#closeError()
    if (response.state !== DEAD) response.cause = error
    response.state = DEAD
    this.#handler = null
    const { sink } = response
    response.sink = null
    contained('request', () => this.#body.drop(error))
    if (handler !== null) tellFailed(handler, error)
    sink?.abort(error)
  }

  #closeError(): UpstreamError {
    const { cause, state } = this.#response
    if (cause instanceof UpstreamError) return cause
    return lostCallError({
      connection: this.#connection,
      streamId: this.#stream?.id,
      resetCode: this.#stream?.rstCode,
      awaitsHead: state === HEAD,
      isBroken: this.#isBroken,
      mayBeStale: this.#mayBeStale,
    })
  }
}

/** The consumer of a head may have ended the response already. */
function isBody({ state }: Http2ResponseBody): boolean {
  return state === BODY
}

function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

const LOST = new Error('backend connection lost')
const EARLY = new Error('backend answered before the request ended')
