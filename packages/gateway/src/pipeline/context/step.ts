import type { CloudCredentials } from '../cloud-credentials.ts'
import type {
  EndpointWatcher,
  SharedCounters,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
} from '@portico/http/client'
import type { Deadlines } from '@portico/http'
import type { AnswerStore } from '../../stores/answers/answer-store.ts'
import type { BudgetStore } from '../../stores/budgets/budget-store.ts'
import type { KeyedTables } from '../../state/keyed-tables.ts'
import type { Seal } from '../../state/seal.ts'
import type { WorkerCache } from '../../state/worker-cache.ts'
import type { CalloutKind, RecordCallout } from '../../telemetry/metrics/callout-metrics.ts'
import type { CacheCounts } from '../../telemetry/metrics/cache-metrics.ts'
import type { CountPicks } from '../../telemetry/metrics/pick-metrics.ts'
import type { CountRehearsals } from '../../telemetry/metrics/rehearsal-metrics.ts'
import type { CountKeysWithoutRoom } from '../../telemetry/metrics/limit-metrics.ts'
import type { CountShadow } from '../../telemetry/metrics/shadow-metrics.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { BodyUse } from './body-use.ts'
import type { Result } from '@portico/cel'
import type { ExpressionPhase } from '../../expressions/variables.ts'
import type { Reply } from './reply.ts'
import type { AnsweredRequest, RequestContext } from './request-context.ts'
import type { SpanParent } from '../spans/request-spans.ts'

/** Nothing to continue, a reply to stop, or a promise of either. */
export type StepResult = void | Reply | Promise<void | Reply>

/** The behavior of a policy for requests, made once when the config is compiled. */
export interface Step {
  /** The part of the body that is buffered before the step runs, in addition to the needs of its expressions. */
  requestBody?: BodyUse
  responseBody?: BodyUse
  /** Whether the step reads bodies itself: only `requestBody` and `responseBody` are buffered before it runs. */
  readsBodies?: boolean
  /** Whether the step may replace bodies: later steps read them again. */
  replacesBodies?: boolean
  /**
   * Whether `request` or `judge` returns synchronously and sets nothing but `notes`, `error` and the trace. A shadow of
   * the step then runs on the request itself, not on a copy of the request.
   */
  onlyReads?: boolean
  /**
   * Whether `request` finds no data that later policies read. Later shadow policies then do not wait for a shadow of
   * the step.
   */
  findsNothing?: boolean
  /** Runs before the backend is called. */
  request?: (rx: RequestContext) => StepResult
  /** Runs in a shadow of the step in place of `request`, when the step can deny a request in other ways than by a reply. */
  judge?: (rx: RequestContext) => StepResult
  /** Runs before the response is sent, also for replies of the gateway itself. */
  response?: (rx: AnsweredRequest) => StepResult
  /** Runs after the request, however it ended. */
  done?: (rx: RequestContext) => void
}

/** Everything that a step may use besides the request: the pipeline is a pure function of `Env` and its config. */
export interface Env {
  /** Uniform in [0, 1). */
  random: () => number
  /** Wall-clock time in milliseconds since 1970. */
  clock: () => number
  /** Monotonic milliseconds with the same origin in every worker, for state that workers share. */
  monotonic: () => number
  /** The key of the attachment that the config comes from; it names state that outlives a reload. */
  attachment: string
  /** Whether the step runs as a shadow; a shadow step must not spend limits that it shares with enforced policies. */
  isShadow: boolean
  /** Whether an enforced policy counts requests in this domain of a rate limit service. */
  isLimitDomainHeld: (service: string, domain: string) => boolean
  /** An expression, checked when the config was loaded. */
  cel(source: string, phase: ExpressionPhase): Expression
  /** Shared by all workers and generations under this key. */
  counters: SharedCounters
  /** Budgets by key, shared by all workers and generations. */
  tables: KeyedTables
  /** Budgets, which all workers share, and other gateways too when the config has a store for them. */
  budgets: () => BudgetStore
  /** Answers of models that workers and gateways share; null when the config has no store for them. */
  answers: AnswerStore | null
  /** Time limits for calls of the policy. */
  deadlines: Deadlines
  /** The most bytes of one body that a policy may buffer. */
  maxBufferBytes: number
  /** The most bytes of one body from or to a model, which may contain images. */
  maxModelBytes: number
  /** A client for a backend that the policy names, by the key of its IR resource. */
  client(backendKey: string): BackendClient
  /** Describes that backend as text: backends with equal texts behave equally. `address` is valid as Host. */
  describe(backendKey: string): { content: string; address: string }
  /** Returns the function that records the duration of a callout; `Callouts` calls it. */
  callouts(kind: CalloutKind): RecordCallout
  /** Counts requests whose key has no budget because the table of the limit is full. */
  keyWithoutRoom: CountKeysWithoutRoom
  /** Returns the counter of requests that a rehearsal or a `delay` or `abort` policy affects. */
  rehearsed: CountRehearsals
  /** Counts the outcome of a shadow policy for a request of a route. */
  countShadow: CountShadow
  /** Returns the counts of response caches. */
  answerCounts: () => CacheCounts
  /** Counts the outcome of choosing an endpoint of an inference pool. */
  picks: CountPicks
  /** Returns the id that the record of this request will have; null when requests are not recorded. */
  recordId: (rx: RequestContext) => string | null
  /** The cache of this worker, which outlives generations. */
  kept: WorkerCache
  /** Encrypts values that clients send back later. */
  seal: () => Seal
  /** Credentials of the gateway for cloud APIs. */
  credentials: CloudCredentials
  log: Logger
}

/** A compiled expression over one request. */
export interface Expression {
  readonly source: string
  readonly requestBody: BodyUse
  readonly responseBody: BodyUse
  /** Returns errors as values. */
  evaluate(rx: RequestContext): Result
  /** True only for `true`: an error or another type is not. */
  isTrue(rx: RequestContext): boolean
}

/** Sends requests to one backend with the policies of that backend. */
export interface BackendClient {
  /** The Host for the destination; null when the destination gets the client's Host, as an IP address does. */
  readonly hostname: string | null
  send(request: UpstreamRequest, context: CallContext, handler: UpstreamHandler): UpstreamCall
}

/** The context of a call: the request that it serves, and its client. */
export interface CallContext extends EndpointWatcher {
  /** The request; absent when the gateway calls on its own behalf. */
  readonly rx?: RequestContext
  /** The version of the client's connection, from which the version of the call is chosen. */
  clientVersion: string
  clientScheme: 'http' | 'https'
  /** The parent of the call's span; the call has no span when it is absent or null. */
  readonly span?: SpanParent | null
}

/** Makes the step of a policy; `C` is the config type from the schema of the policy. */
export type MakeStep<C> = (config: C, env: Env) => Step | null

/** A step without a part for responses, so the order of response steps does not list it. */
export type RequestStep = Omit<Step, 'response' | 'responseBody'> & { response?: never; responseBody?: never }
export type MakeRequestStep<C> = (config: C, env: Env) => RequestStep | null

/** Declares the step of a policy: `implement<CsrfConfig>((config, env) => …)`. A step is made once per route. */
export function implement<C>(make: MakeRequestStep<C>): MakeRequestStep<C> {
  return make
}

/** Like `implement`, for steps with a response part, which the order of response steps must list too. */
export function implementBoth<C>(make: MakeStep<C>): MakeStep<C> {
  return make
}
