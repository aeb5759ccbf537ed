import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import type { ConnectDone, LeasedAddress, UpstreamCall, UpstreamError } from '@portico/http/client'
import type { ConnectionInfo } from '@portico/http'
import type { HostnameTable } from '../route/hostname.ts'
import type { RouteLookup } from '../route/route-table.ts'
import type { BackendClient, CallContext, StepResult } from '../context/step.ts'
import type { BodyUse } from '../context/body-use.ts'
import type { Expression } from '../expression/expression.ts'
import type { AttemptStep } from '../context/outgoing.ts'
import type {
  AnsweredRequest,
  ListenerIdentity,
  RequestContext,
  RouteIdentity,
  TellFailure,
} from '../context/request-context.ts'

/** Steps in running order; `names` says whose they are, for traces. */
export interface StepList<Rx extends RequestContext = RequestContext> {
  readonly run: readonly ((rx: Rx) => StepResult)[]
  readonly names: readonly string[]
}

/** The steps of backend policies for each attempt. */
export interface AttemptStepList {
  readonly run: readonly AttemptStep[]
  readonly names: readonly string[]
}

/** Returns the index of a backend for a random number in [0, 1); `wanted` wins if its weight is above zero. */
export type PickBackend = (random: number, wanted?: number) => number

/** A route ready to run: functions, or null where there is nothing to do. */
export interface CompiledRoute extends RouteIdentity {
  readonly key: string
  readonly request: StepList | null
  readonly response: StepList<AnsweredRequest> | null
  /** Run once when a request is over; null when there is nothing to do. */
  readonly done: readonly ((rx: RequestContext) => void)[] | null
  /** The merged config of the traffic policies by name, for traces. */
  readonly effectivePolicy: Readonly<Record<string, unknown>>
  readonly backends: CompiledBackend[]
  /** Index of a backend for a number in [0, 1); null when none can be picked. */
  readonly pick: PickBackend | null
  /** Whether the route may serve a connection without HTTP; null serves every connection. */
  readonly admits: AdmitConnection | null
}

/** Judges a connection without HTTP, or a UDP session, by the rules of `authorization`. */
export type AdmitConnection = (subject: RoutedConnection) => boolean

export interface RoutedConnection {
  readonly connection: ConnectionInfo
  readonly listener: CompiledListener
  readonly route: CompiledRoute | null
  /** Adds the outcome of the shadow `authorization`; absent when nothing records outcomes. */
  addShadow?(outcome: ShadowOutcome): void
}

/** Limits the retries to a backend. */
export interface RetryBudget {
  /** Counts a request, which is the first attempt of its call. */
  countRequest(): void
  /** Counts a retry and returns true, or returns false when the budget is spent. */
  takeRetry(): boolean
}

/** A backend without its address. */
export interface BackendIdentity {
  readonly key: string
  readonly name: string
  /** The name of its kind in expressions and traces, such as `static`. */
  readonly kind: string
  /** Run on every attempt; null when there is nothing to do. */
  readonly request: AttemptStepList | null
  /** Run on every attempt after all other steps. */
  readonly sign: AttemptStepList | null
  /** Run on its responses, before those of the route. */
  readonly response: StepList<AnsweredRequest> | null
  /** The part of the request body that its policies need. */
  readonly requestBody: BodyUse
  /** Whether a response marks its endpoint unhealthy; null decides by the status. */
  readonly unhealthyCondition: Expression | null
  /** The format in which its clients get errors; absent for a line of text. */
  readonly tellFailure?: TellFailure
  /** Absent when retries are not limited. */
  readonly retryBudget?: RetryBudget
}

export interface CompiledBackend extends BackendClient, BackendIdentity {
  /** Limit for the response head of one attempt, in milliseconds; 0 is none. */
  readonly requestTimeoutMs: number
  /** Whether a limit of half an hour holds when `requestTimeoutMs` is 0. Absent, there is no limit. */
  readonly limitsHead?: boolean
  /** Whether only the client's request names the destination. */
  readonly needsName: boolean
  /** A connection without HTTP, for tunnels; `destination` is `host:port` where the client chooses. */
  connect(destination: string, context: CallContext, done: ConnectDone): UpstreamCall
  /** Chooses an endpoint for a UDP session. Absent when the backend takes no datagrams. */
  lease?(context: CallContext, done: (outcome: LeasedAddress | UpstreamError) => void): void
  /** Returns whether the backend has this endpoint now. Absent when the backend takes no datagrams. */
  hasEndpoint?(name: string): boolean
}

export interface CompiledListener extends ListenerIdentity {
  /** Before the route is chosen. */
  readonly request: StepList | null
  readonly response: StepList<AnsweredRequest> | null
  /** Merged config of the policies before routing. */
  readonly effectivePolicy: Readonly<Record<string, unknown>>
  readonly key: string
  readonly protocol: 'HTTP' | 'HTTPS' | 'TLS' | 'TCP' | 'UDP' | 'HBONE'
  /** Routes of HTTP and HTTPS listeners. */
  readonly routes: RouteLookup<CompiledRoute>
  /** Routes of TLS listeners by server name; TCP and UDP listeners have at most one, without a name. */
  readonly rawRoutes: HostnameTable<CompiledRoute>
}
