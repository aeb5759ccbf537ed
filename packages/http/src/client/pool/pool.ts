import { performance } from 'node:perf_hooks'
import type { RawStream } from '../../exchange/exchange.ts'
import { isAtHand } from '../../body/body.ts'
import { Deadline, type Deadlines } from '../../runtime/deadlines.ts'
import { contained, reportFault } from '../../runtime/faults.ts'
import type { Hops } from '../../fields/hops.ts'
import type { SocketReader } from '../../socket/socket-reader.ts'
import {
  type ConnectDone,
  type EndpointWatcher,
  internalFailure,
  isIdempotent,
  LOOK_MS,
  tellFailed,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../upstream-types.ts'
import type { PlainEndpoint } from '../endpoints/endpoints.ts'
import { dial, type Dial, type DialOptions } from './dial.ts'
import { ForwardingHandler } from './forwarding-handler.ts'
import { type ConnectionOwner, Http1Connection } from '../http1/http1-connection.ts'
import type { Http2Connection, Http2ConnectionOwner } from '../http2/http2-connection.ts'
import { connectHttp2, isHttp2Loaded, loadHttp2 } from './load-http2.ts'
import { NoTunnels } from '../no-tunnels.ts'

export interface PoolOptions extends DialOptions {
  /** HTTP version to use; 'negotiate' leaves the choice to ALPN. */
  version: 'HTTP1' | 'HTTP2' | 'negotiate'
  idleTimeoutMs: number
  /** The most idle connections to keep. */
  maxIdle: number
  /** Whether the connections carry HBONE tunnels: the peer must negotiate HTTP/2. */
  isHbone?: boolean
}

/** Records events of the pool; in production, in slots of a metrics region. */
export interface PoolObserver {
  opened(durationMs: number): void
  closed(): void
  connectFailed(error: UpstreamError, address: DialOptions['address']): void
  /** Called when a connection with this many calls was closed because pings were not answered. */
  fellSilent(address: DialOptions['address'], calls: number): void
}

interface PoolServices {
  deadlines: Deadlines
  hops: Hops
  observer: PoolObserver
  /** Opens connections; those of the network by default. */
  open?: Dial
}

/** All connections to one address with the same options. */
export class Pool {
  readonly scheme: 'http' | 'https'
  readonly #options: PoolOptions
  readonly #deadlines: Deadlines
  readonly #hops: Hops
  readonly #observer: PoolObserver
  readonly #openConnection: Dial
  readonly #owner: ConnectionOwner
  readonly #sweep: Deadline
  readonly #watch: Deadline
  readonly #connections = new Set<Http1Connection>()
  readonly #idle: Http1Connection[] = []
  readonly #sessions: Http2Connection[] = []
  readonly #waiting: PooledCall[] = []
  #dialing = 0
  #open = 0
  #closed = false

  constructor(options: PoolOptions, { deadlines, hops, observer, open = dial }: PoolServices) {
    this.scheme = options.tls === null ? 'http' : 'https'
    this.#options = options
    this.#deadlines = deadlines
    this.#hops = hops
    this.#observer = observer
    this.#openConnection = open
    this.#owner = {
      idle: (connection) => this.#released(connection),
      closed: (connection) => this.#gone(connection),
    }
    this.#sweep = new Deadline(() => this.#closeIdle())
    this.#watch = new Deadline(() => this.#look())
  }

  /** Connections that are open or being opened; a pool without any can be dropped. */
  get size(): number {
    return this.#open + this.#dialing
  }

  /** `plain` is notified of the call's end when no `EndpointLease` tracks the address. */
  request(
    request: UpstreamRequest,
    handler: UpstreamHandler,
    watcher: EndpointWatcher,
    plain: PlainEndpoint | null = null,
  ): UpstreamCall {
    request.trail = this.#hops.leaving(watcher.hops)
    const call = new PooledCall(this, request, handler, watcher, plain)
    this.start(call)
    return call
  }

  start(call: PooledCall): void {
    const session = this.#sessionFor(call)
    if (session !== undefined) return call.use(session)
    if (!call.needsNew) {
      for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
        if (connection.usable && !this.#isLeaving(connection)) return call.use(connection)
        connection.socket.destroy()
      }
    }
    this.#enqueue(call)
    if (this.#needsDial()) this.#dial(call)
  }

  #sessionFor(call: PooledCall): Http2Connection | undefined {
    for (const session of this.#sessions) {
      if (session.available && call.accepts(session) && session.isAwake()) return session
    }
    return undefined
  }

  /** A retried call goes before the calls that arrived after it, so that it is not refused again and again. */
  #enqueue(call: PooledCall): void {
    const next = call.isFirstTry ? -1 : this.#waiting.findIndex((other) => other.number > call.number)
    if (next === -1) this.#waiting.push(call)
    else this.#waiting.splice(next, 0, call)
  }

  #isLeaving({ staysMs, idleSince }: Http1Connection): boolean {
    return staysMs !== Infinity && performance.now() - idleSince >= staysMs
  }

  /** One new HTTP/2 connection serves many calls, so a burst must not open one connection per call. */
  #needsDial(): boolean {
    if (this.#options.version === 'HTTP1') return this.#waiting.length > this.#dialing
    let coming = this.#dialing
    for (const session of this.#sessions) if (session.isAboutToTell) coming++
    return this.#waiting.length > coming * CALLS_PER_SESSION
  }

  forget(call: PooledCall): void {
    const index = this.#waiting.indexOf(call)
    if (index !== -1) this.#waiting.splice(index, 1)
  }

  /** Opens a dedicated connection outside the pool, for tunnels. */
  connect(watcher: EndpointWatcher, done: ConnectDone): () => void {
    const options = this.#optionsFor(watcher)
    return this.#openConnection(options, this.#deadlines, (outcome) =>
      done(outcome instanceof UpstreamError ? outcome : outcome.socket),
    )
  }

  #optionsFor(watcher: EndpointWatcher): DialOptions {
    return { ...this.#options, watcher, trail: this.#hops.leaving(watcher.hops) }
  }

  /** Lets calls in progress end and keeps no idle connections. */
  close(): void {
    this.#closed = true
    for (const connection of this.#idle.splice(0)) connection.socket.destroy()
    for (const session of this.#sessions) session.close()
    this.#deadlines.clear(this.#sweep)
  }

  /** Dials for the given call; unassigned connections are for the longest-waiting call. */
  #dial(call = this.#waiting[0]): void {
    this.#dialing++
    if (this.#options.version === 'HTTP1' || isHttp2Loaded()) return this.#connect(call)
    // The code is loaded before dialing: a socket must not receive bytes that nothing reads yet.
    loadHttp2()
      .then(() => this.#connect(call))
      .catch((error: unknown) => {
        reportFault(error, 'worker')
        this.#dialing--
        this.#dialFailed(internalFailure())
      })
  }

  #connect(call: PooledCall | undefined): void {
    const startedAt = performance.now()
    const options = call === undefined ? this.#options : this.#optionsFor(call.watcher)
    this.#openConnection(options, this.#deadlines, (outcome) => {
      this.#dialing--
      if (outcome instanceof UpstreamError) {
        this.#observer.connectFailed(outcome, this.#options.address)
        this.#dialFailed(outcome)
        return
      }
      if (++this.#open === 1) this.#deadlines.set(this.#watch, LOOK_MS)
      this.#observer.opened(performance.now() - startedAt)
      const { socket, reader } = outcome
      if (this.#speaksHttp2(socket)) return this.#addSession(socket, reader)
      if (this.#options.isHbone === true) return this.#refuseHttp1(socket)
      // The backend chose HTTP/1.1, so each waiting call needs a connection of its own.
      for (let extra = this.#waiting.length - 1 - this.#dialing; extra > 0; extra--) this.#dial()
      const connection = new Http1Connection(socket, this.#owner, reader)
      this.#connections.add(connection)
      this.#offer(connection)
    })
  }

  #refuseHttp1(socket: RawStream): void {
    socket.destroy()
    this.#open--
    this.#observer.closed()
    this.#dialFailed(new UpstreamError('tls_failed', 'the peer did not negotiate HTTP/2', true))
  }

  /** Fails the calls that this connection would have served. */
  #dialFailed(error: UpstreamError): void {
    const served =
      this.#options.version === 'HTTP1' ? 1 : Math.max(1, this.#waiting.length - this.#dialing * CALLS_PER_SESSION)
    for (const call of this.#waiting.splice(0, served)) contained('request', () => call.failed(error))
  }

  #speaksHttp2(socket: RawStream): boolean {
    if (this.#options.tls === null) return this.#options.version === 'HTTP2'
    return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2'
  }

  #addSession(socket: RawStream, reader: SocketReader | undefined): void {
    const owner: Http2ConnectionOwner = {
      idle: (session) => {
        this.#serveWaiting()
        if (session.active === 0) this.#deadlines.set(this.#sweep, this.#options.idleTimeoutMs)
      },
      fellSilent: (session) => this.#observer.fellSilent(this.#options.address, session.active),
      closed: (session) => {
        const index = this.#sessions.indexOf(session)
        if (index !== -1) this.#sessions.splice(index, 1)
        this.#open--
        this.#observer.closed()
        // A call may have waited for a ping reply on this connection.
        this.#serveWaiting()
      },
    }
    const session = connectHttp2(socket, owner, this.#deadlines, reader)
    this.#sessions.push(session)
    this.#serveWaiting()
    if (this.#closed) session.close()
  }

  #serveWaiting(): void {
    try {
      this.#handOut()
    } catch (error) {
      reportFault(error, 'worker')
      for (const call of this.#waiting.splice(0)) contained('request', () => call.failed(internalFailure()))
    }
  }

  #handOut(): void {
    while (this.#waiting.length > 0 && this.#sessions.some(({ available }) => available)) {
      let session: Http2Connection | undefined
      const call = this.#takeWaiting((waiting) => (session = this.#sessionFor(waiting)) !== undefined)
      if (session === undefined || call === undefined) break
      call.use(session)
    }
    if (this.#needsDial()) this.#dial()
  }

  #takeWaiting(accepts: (call: PooledCall) => boolean): PooledCall | undefined {
    const index = this.#waiting.findIndex(accepts)
    return index === -1 ? undefined : this.#waiting.splice(index, 1)[0]
  }

  #released(connection: Http1Connection): void {
    if (this.#closed || !connection.usable) connection.socket.destroy()
    else this.#offer(connection)
  }

  /** Gives the connection to the longest-waiting call, whichever call it was dialed for. */
  #offer(connection: Http1Connection): void {
    if (this.#waiting.length > 0) {
      const next = connection.calls === 0 ? this.#waiting.shift() : this.#takeWaiting((call) => !call.needsNew)
      if (next !== undefined) return next.use(connection)
    }
    if (this.#closed || this.#idle.length >= this.#options.maxIdle) {
      connection.socket.destroy()
      return
    }
    connection.idleSince = performance.now()
    if (this.#idle.push(connection) === 1) this.#deadlines.set(this.#sweep, this.#options.idleTimeoutMs)
  }

  /** Checks for calls whose response does not begin. */
  #look(): void {
    for (const connection of this.#connections) connection.look()
    for (const { socket } of this.#idle) if (socket.isLeaving === true) socket.destroy()
    for (const session of this.#sessions) session.look()
    if (this.#open > 0) this.#deadlines.set(this.#watch, LOOK_MS)
  }

  #gone(connection: Http1Connection): void {
    this.#connections.delete(connection)
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    this.#open--
    this.#observer.closed()
  }

  /** The oldest connections come first in the list, because the newest are used first. */
  #closeIdle(): void {
    const oldest = performance.now() - this.#options.idleTimeoutMs
    const fresh = this.#idle.findIndex(({ idleSince }) => idleSince > oldest)
    for (const { socket } of this.#idle.splice(0, fresh === -1 ? this.#idle.length : fresh)) socket.destroy()
    for (const session of this.#sessions) {
      if (session.active === 0 && session.idleSince <= oldest) session.close()
    }
    if (this.#idle.length + this.#sessions.length > 0) this.#deadlines.set(this.#sweep, this.#options.idleTimeoutMs)
  }
}

/** Streams that a session carries before another session is opened. */
const CALLS_PER_SESSION = 100

/** A call that may move to another connection as long as the backend cannot have processed it. */
class PooledCall extends ForwardingHandler implements UpstreamCall {
  /** Sequence number of the call. */
  readonly number = ++callCount
  /** Whether a reused connection was closed under this call, so that only a new connection will do. */
  needsNew = false
  readonly #pool: Pool
  readonly watcher: EndpointWatcher
  readonly #plain: PlainEndpoint | null
  /** Null while the call waits for a connection. */
  #call: UpstreamCall | null = null
  #session: Http2Connection | null = null
  #refusals = 0
  #cancelled = false

  constructor(
    pool: Pool,
    request: UpstreamRequest,
    handler: UpstreamHandler,
    watcher: EndpointWatcher,
    plain: PlainEndpoint | null,
  ) {
    super(request, handler)
    this.#pool = pool
    this.watcher = watcher
    this.#plain = plain
  }

  override responded(response: UpstreamResponse): void {
    if (this.#plain !== null) this.#plain.answered(response.status)
    super.responded(response)
  }

  get isFirstTry(): boolean {
    return !this.needsNew && this.#refusals === 0
  }

  accepts(session: Http2Connection): boolean {
    return !this.needsNew || session.calls === 0
  }

  use(connection: Http1Connection | Http2Connection): void {
    // Only HTTP/2 tells which requests were not processed.
    this.#session = 'hasAnswered' in connection ? connection : null
    if (this.#session !== null) this.keepBody()
    try {
      this.#call = connection.send(this.request, this)
    } catch (error) {
      // The error is contained here, because the end of another call may have handed over the connection.
      reportFault(error, 'request')
      this.#faulted()
    }
  }

  #faulted(): void {
    if (this.#cancelled) return
    this.#cancelled = true
    this.releaseBody()
    tellFailed(this.handler, internalFailure())
  }

  cancel(cause: Error): void {
    this.#cancelled = true
    if (this.#call === null) this.#pool.forget(this)
    else this.#call.cancel(cause)
    this.releaseBody()
  }

  failed(error: UpstreamError): void {
    if (this.#cancelled) return
    if (this.#call !== null && this.#mayMove(error)) {
      this.#call = null
      this.watcher.sentAgain?.(error)
      this.#pool.start(this)
      return
    }
    this.releaseBody()
    if (this.#plain !== null) this.#plain.failed(error)
    tellFailed(this.handler, error)
  }

  #mayMove(error: UpstreamError): boolean {
    const { method, body, opensTunnel } = this.request
    // No other connection would accept the tunnel, or the certificate, either.
    if (error instanceof NoTunnels || error.code === 'tls_failed') return false
    if (error.unsent) {
      const most = this.#session?.hasAnswered ? MAX_REFUSALS : MAX_REFUSALS_OF_ALL
      return isAtHand(body) && ++this.#refusals <= most
    }
    // A tunnel that was not opened has carried nothing.
    const isRepeatable = opensTunnel === true || (body.length === 0 && isIdempotent(method))
    this.needsNew = error.stale && isRepeatable
    return this.needsNew
  }
}

let callCount = 0
/** The most refusals before a call fails: a backend that allows few streams per connection refuses many at once. */
const MAX_REFUSALS = 100
/** The same limit for connections that have not answered any call. */
const MAX_REFUSALS_OF_ALL = 10
