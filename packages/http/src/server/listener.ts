import { createServer, type Server, type Socket } from 'node:net'
import type { BindObserver, BindState, ConnectionRefusal } from './bind-state.ts'
import { closeOnceQuiet } from './close-once-quiet.ts'
import { Deadline, type Deadlines } from '../runtime/deadlines.ts'
import { connectionInfo, type ProxiedEnds } from '../exchange/connection-info.ts'
import type { ConnectionInfo, Exchange, ActiveRequest, RawStream } from '../exchange/exchange.ts'
import { reportFault } from '../runtime/faults.ts'
import { detectHttp, readFirstBytes } from './first-bytes.ts'
import { HEAD_MS, Http1ServerConnection } from './http1/server-connection.ts'
import { Http2ServerConnection } from './http2/server-connection.ts'
import { adoptShared, type SocketReader, StreamReader } from '../socket/socket-reader.ts'
import { type ProxyProtocolOptions, readProxyHeader } from '../socket/proxy-protocol.ts'

interface Connection {
  /**
   * Ends after the request in progress; an idle connection that cannot notify its client closes after `quietMs` without
   * a request.
   */
  drain(quietMs?: number): void
  drainSoon(milliseconds: number): void
  destroy(cause: Error): void
  eachObserver(visit: (observer: Partial<ActiveRequest> | null) => void): void
}

/** Why a port does not serve a stream: it has no plain HTTP, a policy denies the client, or it has too many connections. */
export type StreamRefusal = 'no_listener' | 'denied' | 'full'

interface LiveConnection<L> {
  listener: L | null
  connection: Connection
}

/** One listening port of one worker. */
export class BindServer<L> {
  readonly #deadlines: Deadlines
  readonly #observer: BindObserver
  readonly #server: Server
  readonly #connections = new Set<LiveConnection<L>>()
  /** Sockets whose protocol is not known yet. */
  readonly #undetected = new Set<RawStream>()
  #state: BindState<L>
  #draining = false
  /** Connections accepted since the start, and the number of them that are open. */
  #accepted = 0
  #open = 0
  #closed: Promise<void> | null = null
  readonly #refused = (info: ConnectionInfo, status: number, code: string): void => {
    this.#observer.refused(info, status, code)
    if (status !== 0) this.#state.onMalformed(info, status, code)
  }
  readonly #reset = (info: ConnectionInfo, code: string): void => {
    this.#observer.reset(info, code)
    this.#state.onMalformed(info, 0, code)
  }

  constructor(state: BindState<L>, deadlines: Deadlines, observer: BindObserver = UNOBSERVED) {
    this.#state = state
    this.#deadlines = deadlines
    this.#observer = observer
    this.#server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => {
      try {
        this.#accept(socket)
      } catch (error) {
        socket.destroy()
        reportFault(error, 'connection')
      }
    })
  }

  listen(options: { port: number; host?: string; reusePort: boolean }): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ ...options, backlog: BACKLOG }, () => {
        this.#server.off('error', reject)
        // Errors of accept (too many open files) are temporary; the next connection may succeed.
        this.#server.on('error', () => {})
        resolve()
      })
    })
  }

  /** Open connections use the new state from their next request on. */
  update(state: BindState<L>, isGone: (listener: L) => boolean): void {
    // Connections without TLS must not stay when the port now requires TLS.
    const isOtherKind = state.kind !== this.#state.kind
    this.#moveCount(state)
    this.#state = state
    for (const { listener, connection } of this.#connections) {
      if (isOtherKind) connection.drain(0)
      else if (listener !== null && isGone(listener)) connection.drain()
    }
  }

  /** Open connections count as soon as there is a limit. */
  #moveCount(next: BindState<L>): void {
    const [before, after] = [this.#state.cap?.count, next.cap?.count]
    if (before === after) return
    before?.add(-this.#open)
    after?.add(this.#open)
  }

  /**
   * Stops accepting once no connection is queued, because a close would reset queued connections; open connections
   * continue.
   */
  stopListening(): Promise<void> {
    this.#closed ??= closeOnceQuiet(this.#server, () => this.#accepted)
    return this.#closed
  }

  /** Stops accepting, and drains: the port is no longer in the config. */
  retire(): void {
    void this.stopListening()
    this.drain()
  }

  /** Closes every connection after its request in progress, idle connections after `quietMs`. */
  drain(quietMs?: number): void {
    this.#draining = true
    for (const { connection } of this.#connections) connection.drain(quietMs)
    this.#hurry([...this.#undetected])
  }

  destroy(): void {
    this.#server.close()
    for (const { connection } of this.#connections) connection.destroy(new Error('gateway is shutting down'))
    for (const socket of this.#undetected) socket.destroy()
  }

  /** The port that the server listens on; 0 before and after. */
  get port(): number {
    const address = this.#server.address()
    return address !== null && typeof address === 'object' ? address.port : 0
  }

  get connectionCount(): number {
    return this.#connections.size + this.#undetected.size
  }

  /**
   * Adds the requests in progress, by the key of their route. They are counted on demand, so that requests pay nothing
   * for it.
   */
  countOpen(counts: Map<string, number>): void {
    const count = (observer: Partial<ActiveRequest> | null): void => {
      const route = observer?.openRoute ?? null
      if (route !== null) counts.set(route, (counts.get(route) ?? 0) + 1)
    }
    for (const { connection } of this.#connections) connection.eachObserver(count)
  }

  /** While the port drains, silent clients are disconnected. */
  #hurry(sockets: RawStream[]): void {
    const dismiss = (): void => {
      for (const socket of sockets) if (this.#undetected.has(socket)) socket.destroy()
    }
    // Runs after the reads of this turn: a delayed thread must not blame a client whose bytes have already arrived.
    this.#deadlines.set(new Deadline(() => setImmediate(dismiss)), LATE_MS)
  }

  #accept(accepted: Socket): void {
    const state = this.#state
    this.#accepted++
    this.#observer.opened()
    if (state.cap !== null && !state.cap.count.enter(state.cap.limit)) return this.#turnAway(accepted)
    // Only plain HTTP is read through the shared buffer; all other sockets are handed to the runtime.
    const isPlainHttp = state.kind === 'http' && state.proxyProtocol === null
    const { socket, reader } = isPlainHttp
      ? adoptShared(accepted)
      : { socket: accepted, reader: new StreamReader(accepted) }
    this.#count(socket)
    const keepalive = state.keepalive
    if (keepalive !== null) socket.setKeepAlive(true, keepalive.timeMs, keepalive.intervalMs, keepalive.retries)
    if (isPlainHttp) {
      const info = connectionInfo(socket, null, '')
      if (this.#admits(socket, info)) this.#detectHttp(socket, reader, info)
    } else if (state.proxyProtocol === null) this.#begin(socket, null)
    else this.#readProxyHeader(socket, state.proxyProtocol)
  }

  /** Counts a connection until it closes. */
  #count(socket: RawStream): void {
    this.#open++
    socket.on('error', ignore)
    this.#undetected.add(socket)
    if (this.#draining) this.#hurry([socket])
    socket.on('close', () => {
      this.#undetected.delete(socket)
      this.#open--
      this.#state.cap?.count.add(-1)
      this.#observer.closed(socket.bytesRead, socket.bytesWritten)
    })
  }

  /**
   * Admits a stream that another port has received, as a connection of this port. Returns a function that serves the
   * stream, or the reason why the stream is refused. The function must be called; null means that the stream is gone.
   */
  admitStream(info: ConnectionInfo): ((stream: RawStream | null) => void) | StreamRefusal {
    const { kind, proxyProtocol, admits, cap } = this.#state
    if (kind !== 'http' || proxyProtocol !== null) return 'no_listener'
    if (admits !== null && !admits(info)) {
      this.#refuse(info, 'network_authorization')
      return 'denied'
    }
    this.#observer.opened()
    if (cap !== null && !cap.count.enter(cap.limit)) {
      this.#observer.closed(0, 0)
      this.#observer.refused(info, 0, 'max_connections')
      return 'full'
    }
    return (stream) => {
      if (stream === null) {
        cap?.count.add(-1)
        this.#observer.closed(0, 0)
        return
      }
      this.#count(stream)
      this.#detectHttp(stream, new StreamReader(stream), info)
    }
  }

  /** Closes the connection at once without a response: a flood must not cost the port more than that. */
  #turnAway(socket: Socket): void {
    const info = connectionInfo(socket, null, '')
    socket.on('error', ignore)
    socket.destroy()
    this.#observer.closed(0, 0)
    this.#observer.refused(info, 0, 'max_connections')
  }

  #readProxyHeader(socket: Socket, options: ProxyProtocolOptions): void {
    readFirstBytes(socket, this.#deadlines, PROXY_HEADER_MS, (bytes) => {
      const header = readProxyHeader(bytes, options)
      switch (header.kind) {
        case 'more':
          return 'more'
        case 'refused':
          this.#refuse(connectionInfo(socket, null, ''), 'bad_proxy_header')
          return 'destroy'
        case 'none':
          this.#begin(socket, null, bytes)
          return 'done'
        case 'header':
          this.#begin(socket, header, bytes.subarray(header.length))
          return 'done'
      }
    })
  }

  #begin(socket: Socket, proxied: ProxiedEnds | null, rest?: Buffer): void {
    const info = connectionInfo(socket, proxied, '')
    if (!this.#admits(socket, info)) return
    if (rest !== undefined && rest.length > 0) socket.unshift(rest)
    switch (this.#state.kind) {
      case 'http':
        return this.#detectHttp(socket, new StreamReader(socket), info)
      case 'tcp':
        return this.#raw(socket, info, null)
      case 'tls':
        return this.#acceptTls(socket, proxied, info)
    }
  }

  /** A connection that is not admitted gets no response at all. */
  #admits(socket: Socket, info: ConnectionInfo): boolean {
    const { admits } = this.#state
    if (admits === null || admits(info)) return true
    socket.destroy()
    this.#refuse(info, 'network_authorization')
    return false
  }

  #refuse(info: ConnectionInfo, code: ConnectionRefusal<L>['code']): void {
    this.#observer.refused(info, 0, code)
    this.#state.onRefused(info, { code, error: '', sni: '', listener: null })
  }

  /** `refused` is computed in advance, because a closed socket no longer knows its peer. */
  #acceptTls(socket: Socket, proxied: ProxiedEnds | null, refused: ConnectionInfo): void {
    const startedAt = performance.now()
    // A client that disconnects during the handshake must not be waited for.
    socket.allowHalfOpen = false
    this.#state.acceptTls(socket, {
      deadlines: this.#deadlines,
      timeout: this.#state.handshakeTimeoutMs,
      isSilent: this.#state.isSilent === true,
      choose: (hello) => this.#state.chooseTls(hello),
      onSecure: (secure, listener, hello, handshake) => {
        this.#observer.handshake(performance.now() - startedAt)
        this.#undetected.delete(socket)
        secure.on('error', ignore)
        secure.allowHalfOpen = true
        const info = connectionInfo(socket, proxied, hello.sni ?? '', handshake)
        if (this.#state.isRaw?.(listener) === true) return this.#raw(secure, info, listener)
        if (secure.alpnProtocol === 'h2') this.#serveHttp2(secure, info, listener)
        else this.#serveHttp1(secure, info, listener)
      },
      onPassthrough: (raw, listener, hello) => {
        raw.allowHalfOpen = true
        this.#raw(raw, connectionInfo(raw, proxied, hello.sni ?? '', undefined, hello.random), listener)
      },
      onRefused: (error, { hello, listener, hasSpoken, cause }) => {
        const isCertificate = cause === 'client_certificate'
        this.#observer.refused(refused, 0, isCertificate ? 'client_certificate' : 'tls_refused', error)
        // A client that only probes the port, as load balancers do, was not refused.
        if (!hasSpoken) return
        this.#state.onRefused(refused, { code: 'tls_refused', cause, error, sni: hello?.sni ?? '', listener })
      },
    })
  }

  #detectHttp(socket: RawStream, reader: SocketReader, info: ConnectionInfo): void {
    const { idleTimeoutMs } = this.#state.http1
    const limits = { deadlines: this.#deadlines, idleTimeoutMs, headTimeoutMs: HEAD_MS }
    detectHttp(socket, reader, limits, (version, bytes) => {
      this.#undetected.delete(socket)
      if (version === 1) this.#serveHttp1(socket, info, null, { reader, bytes })
      else this.#serveHttp2(socket, info, null, { reader, bytes })
    })
  }

  #serveHttp1(
    socket: RawStream,
    info: ConnectionInfo,
    listener: L | null,
    first?: { reader: SocketReader; bytes: Buffer },
  ): void {
    const state = this.#state
    const options = {
      handler: (exchange: Exchange) => this.#state.onExchange(exchange, listener),
      deadlines: this.#deadlines,
      maxHeaders: state.http1.maxHeaders,
      idleTimeoutMs: state.http1.idleTimeoutMs,
      maxDurationMs: state.maxConnectionDurationMs,
      onRefused: this.#refused,
      onClosed: () => this.#connections.delete(live),
    }
    const connection = new Http1ServerConnection(socket, info, options, first?.reader)
    const live = this.#track(connection, listener)
    if (first !== undefined) this.#start(live, () => connection.start(first.bytes))
  }

  #serveHttp2(
    socket: RawStream,
    info: ConnectionInfo,
    listener: L | null,
    first?: { reader: SocketReader; bytes: Buffer },
  ): void {
    const state = this.#state
    const options = {
      ...state.http2,
      handler: (exchange: Exchange) => this.#state.onExchange(exchange, listener),
      deadlines: this.#deadlines,
      idleTimeoutMs: state.http1.idleTimeoutMs,
      maxDurationMs: state.maxConnectionDurationMs,
      onRefused: this.#refused,
      onReset: this.#reset,
      onClosed: () => this.#connections.delete(live),
    }
    const connection = new Http2ServerConnection(socket, info, options, first?.reader)
    const live = this.#track(connection, listener)
    this.#start(live, () => connection.start(first?.bytes ?? null))
  }

  /** Removes a connection whose start throws, because it has no close handler yet. */
  #start(live: LiveConnection<L>, start: () => void): void {
    try {
      start()
    } catch (error) {
      this.#connections.delete(live)
      throw error
    }
  }

  #raw(socket: Socket, info: ConnectionInfo, listener: L | null): void {
    let run: ActiveRequest | null = null
    const connection: Connection = {
      drain: () => {},
      drainSoon: () => {},
      destroy: () => socket.destroy(),
      eachObserver: (visit) => visit(run),
    }
    const live = this.#track(connection, listener)
    this.#undetected.delete(socket)
    socket.once('close', () => this.#connections.delete(live))
    run = this.#state.onRaw(socket, info, listener)
  }

  #track(connection: Connection, listener: L | null): LiveConnection<L> {
    const live: LiveConnection<L> = { listener, connection }
    this.#connections.add(live)
    if (this.#draining) connection.drainSoon(LATE_MS)
    return live
  }
}

function ignore(): void {}

const PROXY_HEADER_MS = 5_000
const BACKLOG = 4096
/** Milliseconds for the first bytes and the first requests of a connection that was accepted during a drain. */
const LATE_MS = 1_000

const UNOBSERVED: BindObserver = { opened() {}, closed() {}, handshake() {}, refused() {}, reset() {} }
