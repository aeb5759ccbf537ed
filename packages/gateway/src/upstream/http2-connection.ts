import { type ClientHttp2Session, type ClientSessionOptions, connect } from 'node:http2'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Deadline, type Deadlines } from '../net/deadlines.ts'
import { InternalFault } from '../telemetry/faults.ts'
import { Http2Call } from './http2-call.ts'
import type { CarriedCall, Carrier } from './http2-carrier.ts'
import { Keepalive, type KeptConnection, PING_TIMEOUT_MS } from './keepalive.ts'
import type { UpstreamCall, UpstreamHandler, UpstreamRequest } from './upstream-types.ts'

/** What becomes of a connection when one of its calls is over. */
export interface Http2ConnectionOwner {
  /** A call ended, or the backend allows more of them: look at `available` and `active`. */
  idle(connection: Http2Connection): void
  /** Pings are not answered any more: it is closed next. */
  fellSilent(connection: Http2Connection): void
  closed(connection: Http2Connection): void
}

/** One HTTP/2 connection to a backend; carries many calls at a time. */
export class Http2Connection implements Carrier, KeptConnection {
  readonly socket: Socket
  /** Of this connection: a backend may refuse a scheme that it does not serve here. */
  readonly scheme: 'http' | 'https'
  /** Calls carried so far. */
  calls = 0
  /** It has answered something. */
  hasAnswered = false
  lostBecause: string | null = null
  /** When it became idle, for the pool. */
  idleSince = performance.now()

  readonly #session: ClientHttp2Session
  readonly #owner: Http2ConnectionOwner
  readonly #deadlines: Deadlines
  readonly #keepalive: Keepalive
  /** A backend that is not there any more never closes its side. */
  readonly #goodbye = new Deadline(() => this.socket.destroy())
  readonly #underWay = new Set<CarriedCall>()
  /** Whether streams may carry other protocols (RFC 8441); null until the backend has said. */
  #takesTunnels: boolean | null = null
  readonly #awaitingSettings: ((takesTunnels: boolean) => void)[] = []
  #limit = MAX_STREAMS
  #goingAway = false
  /** Streams above this one were not looked at by the backend; set by its GOAWAY. */
  #lastStreamId = Infinity

  /** The socket is connected; over TLS, ALPN has chosen `h2`. */
  constructor(socket: Socket, owner: Http2ConnectionOwner, deadlines: Deadlines) {
    this.socket = socket
    this.#deadlines = deadlines
    this.#keepalive = new Keepalive(this, deadlines)
    this.scheme = 'encrypted' in socket ? 'https' : 'http'
    this.#owner = owner
    socket.allowHalfOpen = false
    const session = connect('http://backend', { ...SESSION, createConnection: () => socket })
    this.#session = session
    session.setLocalWindowSize(CONNECTION_WINDOW)
    session.on('error', ignore)
    session.on('remoteSettings', (settings) => {
      this.#settled(settings.enableConnectProtocol === true)
      this.#limit = Math.min(settings.maxConcurrentStreams ?? MAX_STREAMS, MAX_STREAMS)
      if (this.available) owner.idle(this)
    })
    session.on('goaway', (_code, lastStreamId) => {
      this.#goingAway = true
      this.#lastStreamId = lastStreamId
    })
    session.on('close', () => {
      this.#settled(false)
      this.#keepalive.stop()
      deadlines.clear(this.#goodbye)
      owner.closed(this)
    })
  }

  /** Calls under way. */
  get active(): number {
    return this.#underWay.size
  }

  /** Called once every `LOOK_MS`. */
  look(): void {
    for (const call of this.#underWay) call.look()
  }

  /** Another call may be sent. */
  get available(): boolean {
    const session = this.#session
    if (this.active >= this.#limit || this.#goingAway || session.closed || session.destroyed) return false
    return this.#keepalive.isAnswered
  }

  /** Whether one that is `available` can be trusted with a call; after a long pause a ping has to be answered first. */
  isAwake(): boolean {
    return this.active > 0 || this.#keepalive.isAwake()
  }

  /** It will be known within a moment whether it is still there. */
  get isAboutToTell(): boolean {
    return this.#keepalive.isAboutToTell
  }

  send(request: UpstreamRequest, handler: UpstreamHandler): UpstreamCall {
    const call = new Http2Call(this, request, handler)
    this.#underWay.add(call)
    this.#keepalive.watch()
    try {
      call.start(this.#session)
    } catch (error) {
      this.#underWay.delete(call)
      call.cancel(new InternalFault())
      throw error
    }
    return call
  }

  whenSettled(then: (takesTunnels: boolean) => void): void {
    if (this.#takesTunnels === null) this.#awaitingSettings.push(then)
    else then(this.#takesTunnels)
  }

  #settled(takesTunnels: boolean): void {
    this.#takesTunnels = takesTunnels
    for (const then of this.#awaitingSettings.splice(0)) then(takesTunnels)
  }

  /** Lets the calls under way end; no more are taken. */
  close(): void {
    this.#goingAway = true
    // The session would drop requests that are still on their way out.
    if (this.active === 0) this.#leave()
  }

  get isLost(): boolean {
    return this.#session.destroyed
  }

  disowned(streamId: number | undefined): boolean {
    return streamId === undefined || streamId > this.#lastStreamId
  }

  finished(call: CarriedCall): void {
    this.#underWay.delete(call)
    this.calls++
    if (this.active === 0) {
      this.idleSince = performance.now()
      if (this.#goingAway) this.#leave()
    }
    this.#owner.idle(this)
  }

  now(): number {
    return this.#deadlines.now()
  }

  heard(isHead: boolean): void {
    if (isHead) this.hasAnswered = true
    this.#keepalive.heard()
  }

  gaveUp(sentAt: number): void {
    this.#keepalive.doubt(sentAt)
  }

  // What its keepalive asks of it.

  get isBusy(): boolean {
    return this.active > 0
  }

  get bytesRead(): number {
    return this.socket.bytesRead
  }

  ping(answered: () => void): void {
    if (this.#session.destroyed) return
    this.#session.ping((error) => {
      if (error === null) answered()
    })
  }

  changed(): void {
    this.#owner.idle(this)
  }

  fellSilent(): void {
    this.lostBecause = `no answer to a ping in ${PING_TIMEOUT_MS / 1000}s`
    this.#owner.fellSilent(this)
    this.#session.destroy()
    this.socket.destroy()
  }

  #leave(): void {
    this.#session.close()
    this.#deadlines.set(this.#goodbye, PING_TIMEOUT_MS)
  }
}

function ignore(): void {}

const MAX_STREAMS = 100
const MAX_HEAD = 262_144
const SESSION: ClientSessionOptions & { strictSingleValueFields: boolean } = {
  settings: { enablePush: false, initialWindowSize: 262_144, maxHeaderListSize: MAX_HEAD },
  maxHeaderListPairs: 500,
  maxSendHeaderBlockLength: MAX_HEAD,
  // Megabytes: room for every stream to wait for its peer on both sides.
  maxSessionMemory: 64,
  // What is sent was checked when it came in.
  strictSingleValueFields: false,
}
const CONNECTION_WINDOW = 4_194_304
