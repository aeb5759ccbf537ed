import type { Socket } from 'node:net'
import { Deadline, type Deadlines } from '../net/deadlines.ts'
import {
  isIdempotent,
  type UpstreamCall,
  UpstreamError,
  type UpstreamHandler,
  type UpstreamRequest,
} from './upstream-types.ts'
import { dial, type DialOptions } from './dial.ts'
import { ForwardingHandler } from './forwarding-handler.ts'
import { type ConnectionOwner, Http1Connection } from './http1-connection.ts'
import { Http2Connection } from './http2-connection.ts'

export interface PoolOptions extends DialOptions {
  /** HTTP version to speak; 'negotiate' leaves it to ALPN. */
  version: 'HTTP1' | 'HTTP2' | 'negotiate'
  idleTimeoutMs: number
  /** Idle connections kept at most. */
  maxIdle: number
}

/** Counts what the pool does; slots of a metrics region in production. */
export interface PoolObserver {
  opened(durationMs: number): void
  closed(): void
  connectFailed(error: UpstreamError, address: DialOptions['address']): void
}

/** All connections to one address in one way. */
export class Pool {
  readonly #options: PoolOptions
  readonly #deadlines: Deadlines
  readonly #observer: PoolObserver
  readonly #owner: ConnectionOwner
  readonly #sweep: Deadline
  readonly #idle: Http1Connection[] = []
  readonly #sessions: Http2Connection[] = []
  readonly #waiting: PooledCall[] = []
  #dialing = 0
  #open = 0
  #closed = false

  constructor(options: PoolOptions, deadlines: Deadlines, observer: PoolObserver) {
    this.#options = options
    this.#deadlines = deadlines
    this.#observer = observer
    this.#owner = {
      idle: (connection) => this.#released(connection),
      closed: (connection) => this.#gone(connection),
    }
    this.#sweep = new Deadline(() => this.#closeIdle())
  }

  /** Connections open or being opened: a pool at zero can be forgotten. */
  get size(): number {
    return this.#open + this.#dialing
  }

  request(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    const call = new PooledCall(this, request, handler)
    this.start(call)
    return call
  }

  start(call: PooledCall): void {
    if (this.#sessions.length > 0 && call.request.upgrade === '') {
      const session = this.#sessions.find((candidate) => candidate.available)
      if (session !== undefined) return call.use(session, true)
    }
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.usable && !this.#isLeaving(connection)) return call.use(connection, true)
      connection.socket.destroy()
    }
    this.#waiting.push(call)
    if (this.#needsDial()) this.#dial()
  }

  #isLeaving({ staysMs, idleSince }: Http1Connection): boolean {
    return staysMs !== Infinity && performance.now() - idleSince >= staysMs
  }

  /** One new HTTP/2 connection serves many calls, so a burst must not open one for each. */
  #needsDial(): boolean {
    return this.#waiting.length > this.#dialing * (this.#options.version === 'HTTP1' ? 1 : CALLS_PER_SESSION)
  }

  forget(call: PooledCall): void {
    const index = this.#waiting.indexOf(call)
    if (index !== -1) this.#waiting.splice(index, 1)
  }

  /** A connection of its own, outside the pool, for tunnels. */
  connect(done: (error: UpstreamError | null, socket: Socket | null) => void): () => void {
    return dial(this.#options, this.#deadlines, (error, connected) => done(error, connected?.socket ?? null))
  }

  /** Lets calls under way end and keeps nothing for later. */
  close(): void {
    this.#closed = true
    for (const connection of this.#idle.splice(0)) connection.socket.destroy()
    for (const session of this.#sessions) session.close()
    this.#deadlines.clear(this.#sweep)
  }

  #dial(): void {
    this.#dialing++
    const startedAt = performance.now()
    dial(this.#options, this.#deadlines, (error, connected) => {
      this.#dialing--
      if (connected === null) {
        this.#observer.connectFailed(error!, this.#options.address)
        this.#dialFailed(error!)
        return
      }
      this.#open++
      this.#observer.opened(performance.now() - startedAt)
      const { socket, reader } = connected
      if (this.#speaksHttp2(socket)) return this.#addSession(socket)
      // The backend chose HTTP/1.1: now each waiting call does need a connection.
      for (let extra = this.#waiting.length - 1 - this.#dialing; extra > 0; extra--) this.#dial()
      this.#offer(new Http1Connection(socket, this.#owner, reader))
    })
  }

  /** Those whom this connection would have served fail with it. */
  #dialFailed(error: UpstreamError): void {
    const served =
      this.#options.version === 'HTTP1' ? 1 : Math.max(1, this.#waiting.length - this.#dialing * CALLS_PER_SESSION)
    for (const call of this.#waiting.splice(0, served)) call.failed(error)
  }

  #speaksHttp2(socket: Socket): boolean {
    if (this.#options.tls === null) return this.#options.version === 'HTTP2'
    return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2'
  }

  #addSession(socket: Socket): void {
    const session: Http2Connection = new Http2Connection(socket, {
      idle: () => {
        this.#serveWaiting()
        if (session.active === 0) this.#deadlines.set(this.#sweep, this.#options.idleTimeoutMs)
      },
      closed: () => {
        const index = this.#sessions.indexOf(session)
        if (index !== -1) this.#sessions.splice(index, 1)
        this.#open--
        this.#observer.closed()
      },
    })
    this.#sessions.push(session)
    this.#serveWaiting()
  }

  #serveWaiting(): void {
    for (;;) {
      const session = this.#sessions.find((candidate) => candidate.available)
      const index = session === undefined ? -1 : this.#waiting.findIndex((call) => call.request.upgrade === '')
      if (index === -1) {
        if (this.#needsDial()) this.#dial()
        return
      }
      this.#waiting.splice(index, 1)[0]!.use(session!, false)
    }
  }

  #released(connection: Http1Connection): void {
    if (this.#closed || !connection.usable) connection.socket.destroy()
    else this.#offer(connection)
  }

  /** Whoever waits longest gets it, whichever dial it was made for. */
  #offer(connection: Http1Connection): void {
    const next = this.#waiting.shift()
    if (next !== undefined) return next.use(connection, false)
    if (this.#closed || this.#idle.length >= this.#options.maxIdle) {
      connection.socket.destroy()
      return
    }
    connection.idleSince = performance.now()
    if (this.#idle.push(connection) === 1) this.#deadlines.set(this.#sweep, this.#options.idleTimeoutMs)
  }

  #gone(connection: Http1Connection): void {
    const index = this.#idle.indexOf(connection)
    if (index !== -1) this.#idle.splice(index, 1)
    this.#open--
    this.#observer.closed()
  }

  /** The oldest stand first, because the newest are used first. */
  #closeIdle(): void {
    const oldest = performance.now() - this.#options.idleTimeoutMs
    while (this.#idle.length > 0 && this.#idle[0]!.idleSince <= oldest) this.#idle.shift()!.socket.destroy()
    for (const session of this.#sessions) {
      if (session.active === 0 && session.idleSince <= oldest) session.close()
    }
    if (this.#idle.length + this.#sessions.length > 0) this.#deadlines.set(this.#sweep, this.#options.idleTimeoutMs)
  }
}

/** As many streams as a session carries before another is opened. */
const CALLS_PER_SESSION = 100

/** A call that may move to another connection as long as the backend cannot have answered it. */
class PooledCall extends ForwardingHandler implements UpstreamCall {
  readonly request: UpstreamRequest
  readonly #pool: Pool
  #call: UpstreamCall | null = null
  #reused = false
  #cancelled = false

  constructor(pool: Pool, request: UpstreamRequest, handler: UpstreamHandler) {
    super(handler)
    this.#pool = pool
    this.request = request
  }

  use(connection: Http1Connection | Http2Connection, reused: boolean): void {
    this.#reused = reused
    this.#call = connection.send(this.request, this)
  }

  cancel(cause: Error): void {
    this.#cancelled = true
    if (this.#call === null) this.#pool.forget(this)
    else this.#call.cancel(cause)
  }

  failed(error: UpstreamError): void {
    if (this.#cancelled) return
    // A pooled connection can have been closed by the backend just before it was used.
    const stale =
      this.#reused && (error.unsent || (error.code === 'connection_lost' && isIdempotent(this.request.method)))
    if (stale && this.request.body.length === 0) {
      this.#call = null
      this.#pool.start(this)
      return
    }
    this.handler.failed(error)
  }
}
