import type { ProxyIdentity } from './proxy-identity.ts'
import type { ConnectionInfo, HeaderBlock } from '@portico/http'
import type { TraceEvent } from '../../telemetry/trace/trace-event.ts'
import type { UpstreamError, UpstreamRequest } from '@portico/http/client'
import type { Reply } from './reply.ts'
import type { Rejection } from '../route/lacks.ts'
import { targetPath } from '../../formats/query-parameters.ts'

type Severity = TraceEvent['severity']

/** Receives the events of one request in order; `requestFinished` is the last event. */
export type TraceSink = (event: TraceEvent) => void

/** The fields of a request that a trace reads. */
interface TracedRequest {
  readonly connection: ConnectionInfo
  readonly method: string
  readonly scheme: string
  readonly version: string
  readonly headers: HeaderBlock
  readonly upstreamTarget: string
  readonly currentAuthority: string
  readonly startedAt: number
  readonly jwt: object | null
  readonly apiKey: object | null
  readonly basicAuth: object | null
  readonly extAuth: { readonly metadata: object } | null
  readonly extProc: object | null
  readonly metadata: object | null
  readonly status: number
  readonly responseHeaders: HeaderBlock | null
  readonly error: string | null
}

export interface TraceServices {
  now: () => number
  clock: () => number
  identity: ProxyIdentity
}

interface NamedBackend {
  readonly name: string
  readonly kind: string
}

export type PolicyPhase = 'gateway' | 'route' | 'backend' | 'response'

/** Reports the decisions about one watched request. Requests without a watcher have none. */
export class RequestTrace {
  readonly #rx: TracedRequest
  readonly #sink: TraceSink
  readonly #services: TraceServices
  #skipReason: string | null = null
  #details: object | null = null
  #callTarget: string | null = null
  #callStart = 0

  constructor(rx: TracedRequest, sink: TraceSink, services: TraceServices) {
    this.#rx = rx
    this.#sink = sink
    this.#services = services
  }

  // Called by steps.

  /** Called by a step that does not apply to this request. */
  skipped(reason: string): void {
    this.#skipReason = reason
  }

  /** Adds data about the decision of the step, never secrets. */
  note(details: { readonly [key: string]: unknown }): void {
    this.#details = { ...this.#details, ...details }
  }

  /** Sends an event of the step, such as `authorizationResult`. */
  emit(message: TraceEvent['message'], severity: Severity = 'info', start: number | null = null): void {
    this.#sink({ eventStart: start, eventEnd: this.#elapsed(), severity, message })
  }

  /** Returns the trace of a shadow policy, whose events carry the policy's name in `shadow`. */
  shadowOf(policy: string): RequestTrace {
    const sink: TraceSink = (event) => this.#sink({ ...event, message: { ...event.message, shadow: policy } })
    return new RequestTrace(this.#rx, sink, this.#services)
  }

  // Called by the runner.

  started(): void {
    this.emit({ type: 'requestStarted' })
    this.snapshot('initial request')
  }

  snapshot(stage: string): void {
    this.emit({ type: 'requestSnapshot', stage, requestState: this.#requestState(null, null) })
  }

  /** Reports the selected route; `rejected` has the nearest routes if no route matched. */
  routed(selected: string | null, evaluated: readonly string[], rejected: readonly Rejection[]): void {
    const evaluatedRoutes = [...new Set([...evaluated, ...rejected.map(({ route }) => route)])]
    const message = { type: 'routeSelection', selectedRoute: selected, evaluatedRoutes }
    if (selected === null) this.emit({ ...message, rejectedRoutes: rejected }, 'error')
    else this.emit(message)
  }

  selected(effectivePolicy: object): void {
    this.emit({ type: 'policySelection', effectivePolicy })
  }

  /** Called after a step, with its result. */
  policy(kind: string, phase: PolicyPhase, result: Pick<Reply, 'reason' | 'status'> | void): void {
    const details = this.#details === null ? {} : { details: this.#details }
    const skip = this.#skipReason
    this.#details = null
    this.#skipReason = null
    if (result !== undefined) {
      const stopped = { type: 'stop', reason: result.reason, status: result.status, ...details }
      return this.emit({ type: 'policy', kind, phase, result: stopped }, result.status >= 400 ? 'warn' : 'info')
    }
    const outcome = skip === null ? { type: 'apply' } : { type: 'skip', reason: skip }
    this.emit({ type: 'policy', kind, phase, result: { ...outcome, ...details } })
  }

  /** Reports the steps that did not run because an earlier step stopped the request. */
  notReached(names: readonly string[], from: number, phase: PolicyPhase): void {
    const by = names[from - 1]
    for (const kind of names.slice(from)) {
      this.emit({ type: 'policy', kind, phase, result: { type: 'skip', reason: `${by} stopped the request` } })
    }
  }

  sending(outgoing: UpstreamRequest, backend: NamedBackend): void {
    this.emit({
      type: 'requestSnapshot',
      stage: 'final request',
      requestState: this.#requestState(outgoing, backend),
    })
  }

  callStarted(target: string): void {
    if (this.#callTarget !== null)
      this.callEnded(null, `${this.#callTarget} could not be reached, trying another address`)
    this.#callTarget = target
    this.#callStart = this.#elapsed()
    this.emit({ type: 'backendCallStart', target })
  }

  callEnded(status: number | null, error: string | null): void {
    const failed = error !== null || status === null || status >= 500
    const severity = failed ? 'error' : status >= 400 ? 'warn' : 'info'
    this.#callTarget = null
    this.emit({ type: 'backendCallResult', status, error }, severity, this.#callStart)
  }

  /** Reports a failed call; `name` is the target if the call failed before an address was chosen. */
  callFailed(name: string, { code, message }: UpstreamError): void {
    if (!this.callIsOpen) this.callStarted(name)
    this.callEnded(null, `${code}: ${message}`)
  }

  get callIsOpen(): boolean {
    return this.#callTarget !== null
  }

  responseSnapshot(stage: 'backend response ready' | 'final response'): void {
    const { status, responseHeaders } = this.#rx
    const response = { code: status, headers: headersOf(responseHeaders) }
    this.emit({ type: 'responseSnapshot', stage, requestState: { response, env: this.#services.identity } })
  }

  finished(): void {
    const { status, error } = this.#rx
    const severity = error !== null || status === 0 || status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info'
    this.emit({ type: 'requestFinished', status: status === 0 ? null : status, error }, severity)
  }

  #elapsed(): number {
    return Math.max(0, Math.round((this.#services.now() - this.#rx.startedAt) * 1000))
  }

  #requestState(outgoing: UpstreamRequest | null, backend: NamedBackend | null): object {
    const rx = this.#rx
    const { connection } = rx
    const target = outgoing?.target ?? rx.upstreamTarget
    const host = outgoing?.authority ?? rx.currentAuthority
    const startedAt = this.#services.clock() - (this.#services.now() - rx.startedAt)
    return {
      request: {
        method: outgoing?.method ?? rx.method,
        uri: `${rx.scheme}://${host}${target}`,
        path: targetPath(target),
        pathAndQuery: target,
        host,
        scheme: rx.scheme,
        version: rx.version,
        headers: headersOf(outgoing?.headers ?? rx.headers),
        startTime: new Date(startedAt).toISOString(),
      },
      source: {
        address: connection.address,
        port: connection.port,
        rawAddress: connection.rawAddress,
        rawPort: connection.rawPort,
      },
      ...(backend !== null && { backend: { name: backend.name, type: backend.kind, protocol: 'http' } }),
      ...(rx.jwt !== null && { jwt: rx.jwt }),
      ...(rx.apiKey !== null && { apiKey: rx.apiKey }),
      ...(rx.basicAuth !== null && { basicAuth: rx.basicAuth }),
      ...(rx.extAuth !== null && { extauthz: rx.extAuth.metadata }),
      ...(rx.extProc !== null && { extproc: rx.extProc }),
      ...(rx.metadata !== null && { metadata: rx.metadata }),
      env: this.#services.identity,
    }
  }
}

/** Returns headers by lower-case name; several lines of one name are a list. */
function headersOf(headers: HeaderBlock | null): Record<string, string | string[]> {
  const found = new Map<string, string | string[]>()
  headers?.forEach((name, value) => {
    const key = name.toLowerCase()
    const before = found.get(key)
    if (before === undefined) found.set(key, value)
    else found.set(key, typeof before === 'string' ? [before, value] : [...before, value])
  })
  return Object.fromEntries(found)
}
