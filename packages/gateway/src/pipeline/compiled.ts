import type { Socket } from 'node:net'
import type { UpstreamCall, UpstreamError } from '../upstream/contract.ts'
import type { HostnameTable } from './hostname.ts'
import type { RouteTable } from './route.ts'
import type { BackendClient, CallContext, StepResult } from './step.ts'
import type { RequestOutcome } from '../telemetry/request-metrics.ts'
import type { Rx } from './request.ts'

/** A route ready to run: functions, or null where there is nothing to do. */
export interface CompiledRoute {
  readonly key: string
  readonly name: string
  readonly request: ((rx: Rx) => StepResult)[] | null
  readonly response: ((rx: Rx) => StepResult)[] | null
  readonly backends: CompiledBackend[]
  /** Index of a backend for a number in [0, 1); null when none can be picked. */
  readonly pick: ((random: number) => number) | null
  /** Counts a finished request or connection. */
  readonly count: (outcome: RequestOutcome) => void
}

export interface CompiledBackend extends BackendClient {
  readonly key: string
  readonly name: string
  /** Limit for the response head of one attempt, in milliseconds; 0 is none. */
  readonly requestTimeoutMs: number
  /** Only the client's own words say where it leads. */
  readonly needsName: boolean
  /** A connection without HTTP, for tunnels; `destination` is `host:port` where the client chooses. */
  connect(
    destination: string,
    context: CallContext,
    done: (error: UpstreamError | null, socket: Socket | null) => void,
  ): UpstreamCall
}

export interface CompiledListener {
  readonly key: string
  readonly name: string
  readonly bind: string
  readonly protocol: 'HTTP' | 'HTTPS' | 'TLS' | 'TCP'
  readonly hostname: string
  /** Routes of HTTP and HTTPS listeners. */
  readonly routes: RouteTable<CompiledRoute>
  /** Routes of TCP and TLS listeners, by server name. */
  readonly rawRoutes: HostnameTable<CompiledRoute>
  /** Counts requests that found no route. */
  readonly countUnrouted: (outcome: RequestOutcome) => void
}

export interface RetryRule {
  attempts: number
  backoffMs: number
  codes: ReadonlySet<number>
}
