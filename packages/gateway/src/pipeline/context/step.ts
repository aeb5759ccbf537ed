import type { CloudCredentials } from '../cloud-credentials.ts'
import type {
  EndpointWatcher,
  SharedCounters,
  UpstreamCall,
  UpstreamHandler,
  UpstreamRequest,
} from '@portico/http/client'
import type { Deadlines } from '@portico/http'
import type { KeyedTables } from '../../state/keyed-tables.ts'
import type { Seal } from '../../state/seal.ts'
import type { WorkerCache } from '../../state/worker-cache.ts'
import type { CalloutKind, RecordCallout } from '../../telemetry/metrics/callout-metrics.ts'
import type { CountKeysWithoutRoom } from '../../telemetry/metrics/limit-metrics.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { BodyUse } from './body-use.ts'
import type { Result } from '@portico/cel'
import type { ExpressionPhase } from '../../expressions/variables.ts'
import type { Reply } from './reply.ts'
import type { AnsweredRequest, RequestContext } from './request-context.ts'
import type { SpanPlace } from '../spans/request-spans.ts'

/** Nothing to go on, a reply to stop, or a promise of either. */
export type StepResult = void | Reply | Promise<void | Reply>

/** What a policy does to a request, made once when the config is compiled. */
export interface Step {
  /** What the parts must have of a body, besides what their expressions read: it is buffered before they run. */
  requestBody?: BodyUse
  responseBody?: BodyUse
  /** The parts read bodies by themselves: nothing but what is said here is buffered before they run. */
  readsBodies?: boolean
  /** The parts may leave other bodies behind: who needs one after them reads it anew. */
  replacesBodies?: boolean
  /** Before the backend is called. */
  request?: (rx: RequestContext) => StepResult
  /** Before the response leaves; also on replies made by the gateway itself. */
  response?: (rx: AnsweredRequest) => StepResult
  /** When everything is over, whatever became of it. */
  done?: (rx: RequestContext) => void
}

/** All that a step may use besides the request: the pipeline is a pure function of these and its config. */
export interface Env {
  /** Uniform in [0, 1). */
  random: () => number
  /** Wall-clock time in milliseconds since 1970. */
  clock: () => number
  /** Milliseconds that never go back, from the same beginning in every worker: for state that workers share. */
  monotonic: () => number
  /** The key of the attachment that the config comes from: state that outlives a reload is named by it. */
  attachment: string
  /** An expression, checked when the config was loaded. */
  cel(source: string, phase: ExpressionPhase): Expression
  /** Shared by all workers and generations under this key. */
  counters: SharedCounters
  /** Budgets by key, shared in the same way. */
  tables: KeyedTables
  /** Limits for calls that the policy makes itself. */
  deadlines: Deadlines
  /** The most that a policy may keep of one body. */
  maxBufferBytes: number
  /** The same for requests to models and their answers, which have images in them. */
  maxModelBytes: number
  /** A client for a backend that the policy names, by the key of its IR resource. */
  client(backendKey: string): BackendClient
  /** What that backend is made of, as text: equal texts behave equally. `address` can stand in Host. */
  describe(backendKey: string): { content: string; address: string }
  /** Where calls of policies about requests are timed; `Callouts` does it. */
  callouts(kind: CalloutKind): RecordCallout
  /** Counts requests whose key found no room among the budgets of a limit. */
  keyWithoutRoom: CountKeysWithoutRoom
  /** What this worker keeps from one generation to the next. */
  kept: WorkerCache
  /** For what clients are given to show again. */
  seal: () => Seal
  /** What the gateway shows to clouds. */
  credentials: CloudCredentials
  log: Logger
}

/** A compiled expression over one request. */
export interface Expression {
  readonly source: string
  readonly requestBody: BodyUse
  readonly responseBody: BodyUse
  /** Errors are values. */
  evaluate(rx: RequestContext): Result
  /** True only for `true`: an error or another type is not. */
  isTrue(rx: RequestContext): boolean
}

/** Sends requests to one backend with the policies of that backend. */
export interface BackendClient {
  /** Name that Host gets when it follows the destination; null for addresses, which keep the client's. */
  readonly hostname: string | null
  send(request: UpstreamRequest, context: CallContext, handler: UpstreamHandler): UpstreamCall
}

/** What a call must know of the request it serves. */
export interface CallContext extends EndpointWatcher {
  /** The request itself; absent where the gateway calls on its own account. */
  readonly rx?: RequestContext
  /** Of the client's connection, for the choice of version. */
  clientVersion: string
  clientScheme: 'http' | 'https'
  /** Where the span of the call hangs; left out or null, it has none. */
  readonly span?: SpanPlace | null
}

/** Ties a step to the policy whose config it takes; `C` comes from the policy's schema. */
export type MakeStep<C> = (config: C, env: Env) => Step | null

/** A step that leaves responses alone: the order of responses need not know it. */
export type RequestStep = Omit<Step, 'response' | 'responseBody'> & { response?: never; responseBody?: never }
export type MakeRequestStep<C> = (config: C, env: Env) => RequestStep | null

/** `implement<CsrfConfig>((config, env) => …)`: a step is made once per route at load. */
export function implement<C>(make: MakeRequestStep<C>): MakeRequestStep<C> {
  return make
}

/** The same for steps with a part for responses, which must stand in the order of responses too. */
export function implementBoth<C>(make: MakeStep<C>): MakeStep<C> {
  return make
}
