import type { Socket } from 'node:net'
import { type ConnectionInfo, plainAddress, type ActiveRequest } from '@portico/http'
import type { HandshakePasses } from '@portico/http/server'
import { splice } from '@portico/http/websocket'
import { formatHostPort, type UpstreamCall, UpstreamError } from '@portico/http/client'
import type { AccessRecord } from '../../telemetry/log/access-record.ts'
import type { RequestOutcome } from '../../telemetry/metrics/request-metrics.ts'
import { brokenTunnels } from './tunnel-faults.ts'
import { upstreamFailure } from '../context/failure.ts'
import type { CompiledListener, CompiledRoute } from '../compiled/compiled.ts'
import type { CallContext } from '../context/step.ts'

export interface RawServices {
  random: () => number
  now: () => number
  handshakes: HandshakePasses
  finished(connection: RawRun): void
}

/** Carries one connection without HTTP: by server name on TLS listeners, to the only route on TCP ones. */
export function runRaw(
  socket: Socket,
  info: ConnectionInfo,
  listener: CompiledListener,
  services: RawServices,
): ActiveRequest {
  const run = new RawRun(info, listener, services)
  run.start(socket)
  return run
}

class RawRun implements AccessRecord, RequestOutcome, CallContext, ActiveRequest {
  readonly method = null
  readonly host = null
  readonly target = null
  readonly version = null
  readonly status = 0
  readonly grpcStatus = null
  readonly traceContext = null
  readonly requestId = null
  readonly decisionId = null
  readonly retryAttempt = 0
  readonly llm = null
  readonly mcp = null
  readonly clientVersion = ''
  readonly hops = ''
  readonly clientScheme = 'http'
  readonly connection: ConnectionInfo
  readonly listener: CompiledListener
  readonly srcAddr: string
  readonly sni: string | null
  readonly protocol: string
  readonly listenerName: string
  readonly startedAt: number
  routeName: string | null = null
  endpoint: string | null = null
  requestBytes = 0
  responseBytes = 0
  error: string | null = null
  reason = 'Upstream'
  durationMs = 0
  backendIndex = -1
  route: CompiledRoute | null = null

  readonly #services: RawServices
  #over = false
  /** The address and port that the client came to. */
  #arrivedAt = ''
  /** Its handshake is counted. */
  #isCounted = false

  constructor(info: ConnectionInfo, listener: CompiledListener, services: RawServices) {
    this.connection = info
    this.listener = listener
    this.#services = services
    this.startedAt = services.now()
    this.srcAddr = info.source
    this.sni = info.sni === '' ? null : info.sni
    this.protocol = listener.protocol.toLowerCase()
    this.listenerName = listener.name
  }

  get openRoute(): string | null {
    return this.#over ? null : (this.route?.key ?? '')
  }

  get clientAddress(): string {
    return this.connection.address
  }

  connectingTo(endpoint: string): void {
    this.endpoint = endpoint
  }

  leadsBack(endpoint: string): boolean {
    return endpoint === this.#arrivedAt
  }

  start(socket: Socket): void {
    this.#arrivedAt = formatHostPort(plainAddress(socket.localAddress ?? ''), socket.localPort ?? 0)
    const route = this.listener.rawRoutes.best(this.sni ?? '')
    this.route = route
    if (route === null) return this.#refuse(socket, 'NotFound', 'route not found')
    this.routeName = route.name
    this.backendIndex = route.pick === null ? -1 : route.pick(this.#services.random())
    const backend = route.backends[this.backendIndex]
    if (backend === undefined) return this.#refuse(socket, 'NoHealthyBackend', 'no valid backends')
    if (this.sni === null && backend.needsName) return this.#refuse(socket, 'InvalidRequest', 'no server name')
    if (!this.#countPass()) return this.#refuse(socket, 'LoopDetected', 'loop detected')
    let call: UpstreamCall | null = null
    const onGone = (): void => {
      call?.cancel(GONE)
      this.#end('ClientGone', 'client closed the connection')
    }
    socket.once('close', onGone)
    call = backend.connect(`${this.sni ?? ''}:${socket.localPort ?? 0}`, this, (upstream) => {
      socket.off('close', onGone)
      if (upstream instanceof UpstreamError) {
        return this.#refuse(socket, upstreamFailure(upstream).reason, upstream.message)
      }
      if (this.#over || socket.destroyed) {
        upstream.destroy()
        return this.#end('ClientGone', 'client closed the connection')
      }
      splice({ socket, early: null }, { socket: upstream, early: null }, (end) => {
        this.requestBytes = end.bytesToBackend
        this.responseBytes = end.bytesToClient
        if (end.brokenBy === null) return this.#end('Upstream', null)
        this.#end(end.brokenBy === 'backend' ? 'UpstreamFailure' : 'ClientGone', brokenTunnels[end.brokenBy].message)
      })
    })
  }

  #countPass(): boolean {
    const { handshake } = this.connection
    if (handshake === '') return true
    this.#isCounted = this.#services.handshakes.enter(handshake)
    return this.#isCounted
  }

  #refuse(socket: Socket, reason: string, error: string): void {
    socket.destroy()
    this.#end(reason, error)
  }

  #end(reason: string, error: string | null): void {
    if (this.#over) return
    this.#over = true
    if (this.#isCounted) this.#services.handshakes.leave(this.connection.handshake)
    this.reason = reason
    this.error = error
    this.durationMs = this.#services.now() - this.startedAt
    this.#services.finished(this)
  }
}

const GONE = new Error('client closed the connection')

export type { RawRun }
