import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Deadline, type Deadlines } from '../deadlines.ts'
import type { ConnectionInfo, ExchangeHandler } from '../exchange.ts'
import type { HeadProblem } from '../http1/head.ts'
import { RequestHead, readRequestHead } from './request-head.ts'
import { ResetGuard } from './reset-guard.ts'
import { type ExchangeHost, Http2Exchange, stopUpload } from './server-exchange.ts'

export interface Http2Limits {
  /** For a client that does not send the body of its request; one that does not read has the idle timeout. */
  stallTimeoutMs: number
  windowSize: number
  connectionWindowSize: number
  frameSize: number
  /** Names and values of one head, decoded, with 32 bytes for each field; a larger head gets 431 or a reset. */
  maxHeaderSize: number
  maxStreams: number
  /** Time between pings; 0 for none. */
  keepaliveIntervalMs: number
  keepaliveTimeoutMs: number
}

export interface Http2ServerOptions extends Http2Limits {
  handler: ExchangeHandler
  deadlines: Deadlines
  /** For a connection without streams, and for a client that takes nothing of its response. */
  idleTimeoutMs: number
  /** The connection is drained when it is this old; 0 for never. */
  maxDurationMs: number
  /** Told of every request that was refused; status 0 when the connection itself was. */
  onRefused(info: ConnectionInfo, status: number, code: string): void
  onClosed(connection: Http2ServerConnection): void
}

export const http2Defaults: Readonly<Http2Limits> = {
  stallTimeoutMs: 60_000,
  // 25 MB/s at a distance of 10 ms; a stream whose backend does not read holds no more than that.
  windowSize: 262_144,
  // The runtime gives it back at once, whatever becomes of the data: it only has to be above what is on its way.
  connectionWindowSize: 4_194_304,
  frameSize: 16_384,
  maxHeaderSize: 16_384,
  maxStreams: 200,
  keepaliveIntervalMs: 0,
  keepaliveTimeoutMs: 20_000,
}

/** Takes over a socket whose client speaks HTTP/2; bytes read before must have been put back into it. */
export function serveHttp2(socket: Socket, info: ConnectionInfo, options: Http2ServerOptions): Http2ServerConnection {
  return new Http2ServerConnection(socket, info, options)
}

/** One client connection and its streams. */
export class Http2ServerConnection implements ExchangeHost {
  readonly info: ConnectionInfo
  readonly #session: ServerHttp2Session
  readonly #plainSocket: Socket | null
  readonly #options: Http2ServerOptions
  readonly #open = new Set<Http2Exchange>()
  readonly #resets = new ResetGuard()
  readonly #watch = new Deadline(() => this.#look())
  readonly #watchMs: number
  readonly #keepalive = new Deadline(() => this.#keepaliveDue())
  readonly #lifetime = new Deadline(() => this.drain())
  readonly #lastCall = new Deadline(() => this.#session.close())
  #idleSince: number
  #lookedAt: number
  #pingOutstanding = false
  #draining = false
  #cause: Error = CLIENT_LEFT

  constructor(socket: Socket, info: ConnectionInfo, options: Http2ServerOptions) {
    this.info = info
    this.#options = options
    this.#plainSocket = 'encrypted' in socket ? null : socket
    // A client that sends no more can open no stream; the session ends with its socket.
    socket.allowHalfOpen = false
    const session = performServerHandshake(socket, {
      settings: {
        enablePush: false,
        initialWindowSize: options.windowSize,
        maxFrameSize: options.frameSize,
        maxConcurrentStreams: options.maxStreams,
        maxHeaderListSize: options.maxHeaderSize,
      },
      maxHeaderListPairs: MAX_FIELDS,
      maxSendHeaderBlockLength: MAX_RESPONSE_HEAD,
      maxSessionMemory: sessionMegabytes(options),
      maxSettings: 32,
      // Responses were checked when they came in.
      strictSingleValueFields: false,
      // The runtime would drop a field with blanks around its value and serve the rest; `readRequestHead` refuses.
      strictFieldWhitespaceValidation: false,
    })
    this.#session = session
    session.setLocalWindowSize(options.connectionWindowSize)
    session.on('stream', (stream, _fields, flags, raw) => this.#start(stream, flags, raw))
    session.on('error', ignore)
    session.on('close', () => this.#closed())
    this.#idleSince = performance.now()
    this.#lookedAt = this.#idleSince
    this.#watchMs = Math.min(options.idleTimeoutMs, options.stallTimeoutMs)
    options.deadlines.set(this.#watch, this.#watchMs)
    if (options.maxDurationMs > 0) options.deadlines.set(this.#lifetime, options.maxDurationMs)
    if (options.keepaliveIntervalMs > 0) options.deadlines.set(this.#keepalive, options.keepaliveIntervalMs)
  }

  /** Streams in progress. */
  get active(): number {
    return this.#open.size
  }

  /** No more streams after those the client has opened by now. */
  drain(): void {
    const session = this.#session
    if (this.#draining || session.destroyed || session.closed) return
    this.#draining = true
    this.#options.deadlines.set(this.#lastCall, ROUND_TRIP_MS)
    // The runtime drops what arrives after its own GOAWAY, for the client to send again. On a plain socket a notice
    // can go ahead of it, so that what was on its way is answered.
    if (this.#plainSocket === null) return this.answered()
    this.#plainSocket.write(SHUTDOWN_NOTICE)
    session.ping(() => session.close())
  }

  /**
   * A response has been handed over. Over TLS nobody but the runtime may write, so there is no notice: GOAWAY leaves
   * with the last response under way, when a client that asks one thing after the other has nothing on its way.
   */
  answered(): void {
    if (!this.#draining || this.#plainSocket !== null) return
    for (const exchange of this.#open) if (!exchange.responseDone) return
    this.#session.close()
  }

  /** Came while the gateway drains: what it asks in that time is answered. */
  drainSoon(milliseconds: number): void {
    this.#options.deadlines.set(this.#lifetime, milliseconds)
  }

  destroy(cause: Error): void {
    if (this.#session.destroyed) return
    this.#cause = cause
    // A response that breaks off must not look whole.
    const code = this.#open.size === 0 ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_INTERNAL_ERROR
    destroyWith(this.#session, code)
  }

  #start(stream: ServerHttp2Stream, flags: number, raw: readonly string[]): void {
    stream.on('error', ignore)
    // Opened and reset in one go: the runtime tells of the stream only now.
    if (stream.destroyed || stream.closed) return this.#countReset()
    const ended = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    const head = readRequestHead(raw, ended, this.#options.maxHeaderSize)
    if (!(head instanceof RequestHead)) return this.#refuse(stream, raw, head)
    const exchange = new Http2Exchange(this, stream, head)
    this.#open.add(exchange)
    this.#options.handler(exchange)
  }

  ended(exchange: Http2Exchange): void {
    const open = this.#open
    open.delete(exchange)
    if (open.size === 0) this.#idleSince = performance.now()
    if (exchange.closed(this.#cause)) this.#resets.completed()
    else this.#countReset()
    this.answered()
  }

  #refuse(stream: ServerHttp2Stream, raw: readonly string[], { status, code }: HeadProblem): void {
    this.#options.onRefused(this.info, status, code)
    const body = code.replaceAll('_', ' ')
    const head = [':status', String(status), 'content-type', 'text/plain', 'content-length', String(body.length)]
    const bodyless = raw[raw.indexOf(':method') + 1] === 'HEAD'
    stream.respond(head, { endStream: bodyless })
    if (!bodyless) stream.end(body)
    if (stream.endAfterHeaders) return
    stream.resume()
    stopUpload(stream)
  }

  #countReset(): void {
    if (this.#session.destroyed || !this.#resets.reset(performance.now())) return
    this.#options.onRefused(this.info, 0, 'too_many_resets')
    this.#cause = new Error('client resets too many streams')
    destroyWith(this.#session, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  /** Now and then instead of a timer per stream. */
  #look(): void {
    const { deadlines, idleTimeoutMs } = this.#options
    const now = performance.now()
    const elapsed = now - this.#lookedAt
    this.#lookedAt = now
    if (this.#open.size === 0 && now - this.#idleSince >= idleTimeoutMs) this.drain()
    for (const exchange of this.#open) if (exchange.isStalled(elapsed, this.#options)) exchange.reset(STALLED)
    deadlines.set(this.#watch, this.#watchMs)
  }

  #keepaliveDue(): void {
    if (this.#pingOutstanding) return this.destroy(new Error('client does not answer pings'))
    const { deadlines, keepaliveIntervalMs, keepaliveTimeoutMs } = this.#options
    if (this.#session.destroyed || this.#session.closed) return
    this.#pingOutstanding = true
    deadlines.set(this.#keepalive, keepaliveTimeoutMs)
    this.#session.ping(() => {
      this.#pingOutstanding = false
      if (!this.#session.destroyed) deadlines.set(this.#keepalive, keepaliveIntervalMs)
    })
  }

  #closed(): void {
    const { deadlines } = this.#options
    deadlines.clear(this.#watch)
    deadlines.clear(this.#keepalive)
    deadlines.clear(this.#lifetime)
    deadlines.clear(this.#lastCall)
    this.#options.onClosed(this)
  }
}

/** An error of its own, so that the streams too end with that code and not as if all were well. */
function destroyWith(session: ServerHttp2Session, code: number): void {
  if (code === constants.NGHTTP2_NO_ERROR) session.destroy()
  else session.destroy(new Error('session given up'), code)
}

/** Room for every stream to wait for its peer on both sides; beyond it the runtime refuses streams. */
function sessionMegabytes(limits: Http2Limits): number {
  return 16 + Math.ceil((limits.maxStreams * (limits.windowSize + STREAM_BUFFER)) / 1_000_000)
}

function ignore(): void {}

const CLIENT_LEFT = new Error('client closed the stream or the connection')
const STALLED = new Error('client neither sends nor takes data')
/** GOAWAY without an error and with the highest stream number there is (RFC 9113 section 6.8). */
const SHUTDOWN_NOTICE = Buffer.from('0000080700000000007fffffff00000000', 'hex')
const MAX_FIELDS = 256
/** Above what is taken from backends: a response that cannot be sent would end the whole session. */
const MAX_RESPONSE_HEAD = 524_288
/** What a stream holds of a response that its client does not take. */
const STREAM_BUFFER = 262_144
/** For the answer to the ping of a drain, or for responses under way. */
const ROUND_TRIP_MS = 1_000
