import { spiffeIn } from '../../formats/spiffe.ts'
import { type ConnectionInfo, type ActiveRequest } from '@portico/http'
import type { RequestShadowRecord, ShadowOutcome } from '../../records/shadow-outcome.ts'
import type { AccessRecord } from '../../telemetry/log/access-record.ts'
import type { RequestOutcome } from '../../telemetry/metrics/request-metrics.ts'
import type { CompiledBackend, CompiledListener, CompiledRoute } from '../compiled/compiled.ts'
import type { CallContext } from '../context/step.ts'

/** Why a connection or session without HTTP cannot be forwarded: the reason of the access log, and a message. */
interface RawRefusal {
  reason: string
  error: string
}

/**
 * The record of a connection without HTTP, or of a UDP session: telemetry reads it when it has ended, and calls to the
 * backend have it as their context.
 */
export class RawRun implements AccessRecord, RequestOutcome, CallContext, ActiveRequest {
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
  readonly rehearsal = null
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
  shadows: RequestShadowRecord | null = null
  durationMs = 0
  backendIndex = -1
  route: CompiledRoute | null = null

  /** Returns whether an endpoint is the listener itself. */
  leadsBack: (endpoint: string) => boolean = () => false
  /** Returns whether an endpoint failed for this client before; another one is preferred. */
  hasTried: (endpoint: string) => boolean = () => false

  readonly #services: RecordServices
  #over = false

  constructor(info: ConnectionInfo, listener: CompiledListener, services: RecordServices) {
    this.connection = info
    this.listener = listener
    this.#services = services
    this.startedAt = services.now()
    this.srcAddr = info.source
    this.sni = info.sni === '' ? null : info.sni
    this.protocol = listener.protocol.toLowerCase()
    this.listenerName = listener.name
    if (services.networkShadow !== null) this.addShadow(services.networkShadow(info))
  }

  addShadow(outcome: ShadowOutcome): void {
    this.shadows = { outcomes: [...(this.shadows?.outcomes ?? []), outcome] }
  }

  get srcIdentity(): string | null {
    return spiffeIn(this.connection.certificate?.subjectAltNames ?? [])
  }

  get isOver(): boolean {
    return this.#over
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

  /** Chooses the route by the server name, and a backend by `pick`. */
  choose(pick: (route: CompiledRoute) => number): CompiledBackend | RawRefusal {
    const route = this.listener.rawRoutes.best(this.sni ?? '')
    this.route = route
    if (route === null) return { reason: 'NotFound', error: 'route not found' }
    this.routeName = route.name
    if (route.admits !== null && !route.admits(this)) return { reason: 'Authorization', error: 'authorization failed' }
    this.backendIndex = pick(route)
    const backend = route.backends[this.backendIndex]
    if (backend === undefined) return { reason: 'NoHealthyBackend', error: 'no valid backends' }
    return backend
  }

  /** Ends the record; only the first end counts. Returns whether this one did. */
  end(reason: string, error: string | null): boolean {
    if (this.#over) return false
    this.#over = true
    this.reason = reason
    this.error = error
    this.durationMs = this.#services.now() - this.startedAt
    this.#services.finished(this)
    return true
  }
}

export interface RecordServices {
  /** Returns the outcome of the shadow `networkAuthorization` for a connection; null when the policy has no shadow. */
  networkShadow: ((info: ConnectionInfo) => ShadowOutcome) | null
  now: () => number
  finished(run: RawRun): void
}
