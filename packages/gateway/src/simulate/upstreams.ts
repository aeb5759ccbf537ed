import {
  collect,
  type ConnectionInfo,
  Deadline,
  type Deadlines,
  type Exchange,
  HeaderBlock,
  sourceOf,
} from '@portico/http'
import { type Dial, formatHostPort, UpstreamError } from '@portico/http/client'
import { memorySockets } from '@portico/http/memory'
import { BindServer, plainHttpBind } from '@portico/http/server'
import { linesOf, type Unknown, type Upstream, type UpstreamMessage, type World, type WorldReply } from './world.ts'

/** The upstreams of a simulation: they accept connections in memory, record requests and answer from the world. */
export class SimulatedUpstreams {
  /** The requests that were sent, in order. */
  requests: UpstreamMessage[] = []
  unknowns: Unknown[] = []
  /** Requests that wait for the virtual clock: their response is late, or never comes. */
  waiting = 0
  /** Connections that are being opened, and requests that are being read. */
  active = 0
  readonly #world: Pick<World, 'upstream' | 'hosts'>
  readonly #deadlines: Deadlines
  readonly #serverByKey = new Map<string, BindServer<never>>()

  constructor(world: Pick<World, 'upstream' | 'hosts'>, deadlines: Deadlines) {
    this.#world = world
    this.#deadlines = deadlines
  }

  /** Forgets what was recorded for the last request. */
  forget(): void {
    this.requests = []
    this.unknowns = []
    this.waiting = 0
    this.active = 0
  }

  unknown(kind: Unknown['kind'], of: string): void {
    this.unknowns.push({ kind, of, after: this.requests.length })
  }

  /** Opens a connection of the gateway. Proxies and TLS are taken for granted: they carry the same bytes. */
  readonly dial: Dial = ({ address, tls, watcher, tunnel }, _deadlines, done) => {
    const own = 'path' in address ? `unix:${address.path}` : formatHostPort(address.host, address.port)
    const upstream = this.find(own) ?? unknownUpstream
    let isOver = false
    const settle: typeof done = (outcome) => {
      if (isOver) return
      isOver = true
      done(outcome)
    }
    if (tunnel !== null) watcher?.tunnelling?.(own, tunnel.name)(null)
    this.active++
    queueMicrotask(() => {
      this.active--
      if (upstream.refusal !== null) return settle(new UpstreamError('connect_failed', upstream.refusal, true))
      const [near, far] = memorySockets(tls === null ? null : alpnOf(tls.ALPNProtocols, upstream))
      const admitted = this.#serverOf(own, tls !== null, upstream).admitStream(connectionOf(tls !== null))
      if (typeof admitted === 'string') throw new Error(admitted)
      admitted(far)
      settle({ socket: near })
    })
    return () => settle(new UpstreamError('connect_failed', 'cancelled', true))
  }

  /**
   * Returns the simulated upstream at an address, or at a host name that resolves to the address; null when there is
   * none.
   */
  find(address: string): Upstream | null {
    const direct = this.#world.upstream(address)
    if (direct !== null) return direct
    const colon = address.lastIndexOf(':')
    const [host, port] = [address.slice(0, colon), address.slice(colon)]
    for (const [name, addresses] of Object.entries(this.#world.hosts)) {
      const named = addresses.includes(host) ? this.#world.upstream(name + port) : null
      if (named !== null) return named
    }
    return null
  }

  #serverOf(address: string, isTls: boolean, upstream: Upstream): BindServer<never> {
    const key = `${isTls} ${address}`
    let server = this.#serverByKey.get(key)
    if (server === undefined) {
      const scheme = isTls ? 'https' : 'http'
      const bind = plainHttpBind((exchange) => this.#receive(exchange, { address, scheme, upstream }))
      server = new BindServer(bind, this.#deadlines)
      this.#serverByKey.set(key, server)
    }
    return server
  }

  #receive(exchange: Exchange, { upstream, ...at }: MessageOrigin & { upstream: Upstream }): void {
    let isGone = false
    this.active++
    exchange.observer = { sent() {}, gone: () => (isGone = true) }
    readMessage(exchange, at, (message) => {
      this.active--
      if (isGone || message === null) return
      this.ask(message, upstream, (reply) => {
        if (reply === null) return exchange.reset(new Error('the world has no answer'))
        if (!isGone) answerWith(exchange, reply)
      })
    })
  }

  /**
   * Records a request to an upstream, and calls `done` with the response when its delay is over; with null when the
   * simulated world has no response.
   */
  ask(message: UpstreamMessage, upstream: Upstream, done: (reply: WorldReply | null) => void): void {
    const reply = upstream.answer(message)
    if (reply === null) {
      if (upstream === unknownUpstream) this.unknown('upstream', message.address)
      else this.unknown('answer', `${message.method} ${message.address}${message.target}`)
    }
    this.requests.push(message)
    if (reply === null) return done(null)
    this.#later(reply, () => done(reply))
  }

  #later({ delayMs, fault }: WorldReply, then: () => void): void {
    if (fault === 'silent') return void this.waiting++
    if (delayMs === 0) return then()
    this.waiting++
    const due = new Deadline(() => {
      this.waiting--
      then()
    })
    this.#deadlines.set(due, delayMs)
  }
}

/** Stands for an upstream that the world does not have: the request is seen, and its response is unknown. */
const unknownUpstream: Upstream = { refusal: null, speaksHttp2: true, answer: () => null }

interface MessageOrigin {
  address: string
  scheme: 'http' | 'https'
}

/** Reads a request that arrived at an upstream; `done` gets null when the request breaks off. */
export function readMessage(
  exchange: Exchange,
  at: MessageOrigin,
  done: (message: UpstreamMessage | null) => void,
): void {
  const { version, method, authority, target } = exchange
  // A tunnel has no request body; what flows in it is not simulated.
  const source = exchange.upgrade === '' && method !== 'CONNECT' ? exchange.body : sourceOf(Buffer.alloc(0))
  collect(source, MOST_BODY, (body) => {
    if (body === null) return done(null)
    done({ ...at, version, method, authority, target, headers: linesOf(exchange.headers), body })
  })
}

/** Sends a response of the world. */
export function answerWith(exchange: Exchange, { status, headers, body, trailers, fault }: WorldReply): void {
  if (fault === 'reset') return exchange.reset(new Error('the upstream resets'))
  if (exchange.upgrade !== '' && status === 101) {
    return void exchange.takeOver(status, HeaderBlock.of(headers))?.socket.end()
  }
  const source = sourceOf(body, trailers === null ? null : HeaderBlock.of(trailers))
  source.pipe(exchange.respond(status, HeaderBlock.of(headers), source.length))
}

function alpnOf(offered: unknown, { speaksHttp2 }: Upstream): 'h2' | 'http/1.1' {
  return speaksHttp2 && Array.isArray(offered) && offered.includes('h2') ? 'h2' : 'http/1.1'
}

function connectionOf(isTls: boolean): ConnectionInfo {
  return {
    ...{ address: '127.0.0.1', port: 0, rawAddress: '127.0.0.1', rawPort: 0, source: '127.0.0.1:0' },
    ...{ scheme: isTls ? 'https' : 'http', sni: '', handshake: '' },
    destination: () => ({ address: '127.0.0.1', port: 0 }),
    principal: () => '',
  }
}

const MOST_BODY = 64 * 1024 * 1024
