import { InternalFault } from '@portico/http/faults'
import type { ConnectionInfo, Exchange, HeaderBlock, Source } from '@portico/http'
import type { RecordRequest } from '../../telemetry/metrics/request-metrics.ts'
import { readTraceparent, type TraceContext } from '../../telemetry/traceparent.ts'
import type { Decision, FailedCall } from '../../telemetry/recorder/facts.ts'
import type { KeptBytes } from '../../telemetry/recorder/kept-bytes.ts'
import { UpstreamError, type UpstreamRequest } from '@portico/http/client'
import type { LlmRecord } from '../../records/llm-record.ts'
import type { McpRecord } from '../../records/mcp-record.ts'
import { normalizeHost } from '../route/hostname.ts'
import type { Reason, Reply } from './reply.ts'
import type { RouteCandidate } from '../route/route-table.ts'
import type { RoutableRequest } from '../route/request.ts'
import type { BufferedBody } from './body-use.ts'
import { targetPath, targetQuery } from '../route/target.ts'
import type { RequestSpans } from '../spans/request-spans.ts'
import type { RequestTrace } from './trace.ts'

export type JsonObject = { readonly [key: string]: unknown }

/** Token limits that a request counts against; more than the end of a call may be charged. */
export interface TokenAccount {
  charge(tokens: number): void
}

/** Numbers of one limit, as the `x-ratelimit-*` headers say them. */
export interface RateLimitState {
  limit: number
  remaining: number
  resetSeconds: number
}

/** What authentication took off a request. */
export interface TakenCredential {
  /** Puts it back byte for byte, and where it stood as long as nothing around it has changed. */
  restore(outgoing: Pick<UpstreamRequest, 'target' | 'headers'>): void
}

/** What outside authorizers said of a request that they let pass. */
export interface ExtAuthState {
  /** For later expressions, as `extauthz`. */
  metadata: JsonObject
  /** Of the response to the client. */
  responseHeaders: readonly HeaderEdit[]
  /** The same, from the authorizer of the backend. */
  backendHeaders: readonly HeaderEdit[]
}

/** What a policy has under way for a request, outside of its steps. */
export interface OpenCall {
  /** The request is over, or has become a tunnel; `cause` says why it did not end well. */
  close(cause: Error | null): void
}

/** Whoever runs a request, for what policies find out between their steps. */
export interface RequestRunner {
  /** Answers with this, whatever is under way; false when an answer has begun. */
  interrupt(reply: Reply): boolean
  /** Something that is done for the request has thrown: it is answered with 500, or cut where an answer has begun. */
  faulted(error: unknown): void
}

/** A change to a header that somebody outside asks for. */
export interface HeaderEdit {
  name: string
  value: string
  /** `append` keeps what is there; `absent` and `present` change only where nothing, or something, is. */
  way: 'set' | 'append' | 'absent' | 'present'
}

/** Where requests of a client go. */
export interface StickyPlace {
  /** Key of the backend. */
  backend: string
  endpoint: string
}

export interface RetryRule {
  attempts: number
  backoffMs: number
  codes: ReadonlySet<number>
}

/** Of steps in running order. */
interface StepNames {
  readonly names: readonly string[]
}

/** What everybody may know of the listener that a request came to; what it does is for the runner. */
export interface ListenerIdentity {
  readonly key: string
  readonly name: string
  readonly bind: string
  readonly hostname: string
  /** Names of the steps before routing, and of those that its answers meet last. */
  readonly request: StepNames | null
  readonly response: StepNames | null
  /** Counts requests that found no route. */
  readonly countUnrouted: RecordRequest
}

/** The same of the route. */
export interface RouteIdentity {
  readonly key: string
  readonly name: string
  /** Name of the rule, or empty. */
  readonly rule: string
  /** Names of its steps. */
  readonly request: StepNames | null
  readonly response: StepNames | null
  readonly backends: readonly {
    readonly key: string
    readonly name: string
    readonly kind: string
    readonly request: StepNames | null
    readonly sign: StepNames | null
    readonly response: StepNames | null
  }[]
  /** Counts a finished request or connection. */
  readonly count: RecordRequest
  /** How its clients read errors of the gateway itself; null for a line of text. */
  readonly tellFailure: TellFailure | null
}

/** Ends something that a request waits for, because nobody waits for the request any more. */
export type GiveUp = () => void

/** Null leaves it at a line of text. */
export type TellFailure = (
  failure: Pick<Reply, 'status' | 'reason' | 'failure'>,
  rx: RequestContext,
) => { headers: readonly (readonly [name: string, value: string])[]; body: Buffer } | null

/** A request that has an answer: what is done to responses meets no other. */
export type AnsweredRequest = RequestContext & { responseHeaders: HeaderBlock; responseBody: Source }

/** One request with what has been found out about it. One fixed shape; policies write only fields declared here. */
export class RequestContext implements RoutableRequest {
  readonly exchange: Exchange
  readonly connection: ConnectionInfo
  method: string
  /** The client's own path and query, which logs use; credentials in it are hidden once they are found. */
  target: string
  /** Host or `:authority` as sent, unless a transformation changed it. */
  authority: string
  /** `authority` in lower case without its port. */
  host: string
  /** Without the query. */
  path: string
  /** Without the question mark. */
  query: string
  readonly headers: HeaderBlock
  readonly startedAt: number

  listener: ListenerIdentity | null = null
  route: RouteIdentity | null = null
  match: RouteCandidate<RouteIdentity> | null = null

  /** What goes to the backend; changed by rewrites. */
  upstreamTarget: string
  /** A Host that a rewrite set; empty leaves the choice to `hostRewrite`. */
  upstreamAuthority = ''
  /** Whether Host becomes the destination's name; null is the default of the backend's kind. */
  hostRewrite: boolean | null = null
  body: Source

  /** Limit for the whole exchange with backends, in milliseconds; 0 is none. */
  requestTimeoutMs = 0
  retry: RetryRule | null = null
  /** Protocols the route lets a client upgrade to. */
  upgrades: ReadonlySet<string> = WEBSOCKET_ONLY

  /** Claims of a verified token, or of none. */
  jwt: JsonObject | null = null
  /** Metadata of the client's key. */
  apiKey: JsonObject | null = null
  /** What the config calls that key. */
  apiKeyName: string | null = null
  basicAuth: { username: string } | null = null
  /** What transformations computed for later expressions and logs. */
  metadata: Record<string, unknown> | null = null
  extAuth: ExtAuthState | null = null
  /** What outside processors said beside their changes, for later expressions, as `extproc`. */
  extProc: JsonObject | null = null
  /** By the step that has it under way. */
  open: Map<object, OpenCall> | null = null
  runner: RequestRunner | null = null
  /** What client authentication took off the request, in that order; `auth.passthrough` gives it to the backend. */
  taken: readonly TakenCredential[] = NOTHING_TAKEN
  /** The one among it that a backend gets which wants it in another place: a token before anything else. */
  clientToken: string | null = null
  /** What `WWW-Authenticate` says when the token is good and lacks a scope; null where nobody leads clients to more. */
  scopeChallenge: ((rx: RequestContext) => string) | null = null
  /** What is left of the tightest local limit, for the response. */
  rateLimit: RateLimitState | null = null
  /** Response headers that the rate limit service sets. */
  limitHeaders: readonly HeaderEdit[] = NO_EDITS
  /** Limits that its tokens count against. */
  tokenAccounts: readonly TokenAccount[] = NO_ACCOUNTS
  /** The model call behind this request, where there is one. */
  llm: LlmRecord | null = null
  /** The body that expressions of the `ai` policy see. */
  llmRequest: JsonObject | null = null
  /** The MCP message behind this request, where there is one. */
  mcp: McpRecord | null = null
  /** The whole request body, once a step has asked for it. */
  bufferedBody: BufferedBody | null = null
  bufferedResponse: BufferedBody | null = null
  /** Which form of a conditional policy was chosen for this request, by its position. */
  chosen: Map<object, number> | null = null
  /** The variables of expressions, made when the first one is evaluated. */
  scope: object | null = null
  /** Calls of policies that it waits for. */
  callouts: Set<GiveUp> | null = null
  /** The client has its answer, or has left. */
  isOver = false
  /** Set when somebody watches this request. */
  trace: RequestTrace | null = null
  /** Set when spans of it go to a collector. */
  spans: RequestSpans | null = null
  /** What the client said of its trace; undefined until somebody asks. */
  #clientTrace: TraceContext | null | undefined = undefined

  /** The response being made. */
  status = 0
  responseHeaders: HeaderBlock | null = null
  responseBody: Source | null = null

  reason: Reason = 'Upstream'
  error: string | null = null
  /** The step that answered instead of a backend. */
  decision: Decision | null = null
  /** What it was refused by, as data: see `note`. */
  notes: { readonly [key: string]: unknown } | null = null
  /** Calls to the backend that came to nothing, where there were any. */
  failedCalls: FailedCall[] | null = null
  /** When the head of the backend's answer was there, on the clock of `startedAt`; 0 before. */
  answeredAt = 0
  /** Its answer was the one that had an endpoint left out. */
  hasEvicted = false
  /** Number of its record; 0 until somebody names it. */
  serial = 0
  /** What client and backend call it, where that counts. */
  requestId: string | null = null
  /** Copies of its bodies, where they are to be recorded. */
  keptBodies: { readonly request: KeptBytes; readonly response: KeptBytes } | null = null
  /** What a refusal tells its client to ask about. */
  decisionId: string | null = null
  backendIndex = -1
  /** Address of the last attempt, `host:port`. */
  endpoint: string | null = null
  /** Where a request of the same client went before. */
  sticky: StickyPlace | null = null
  /** Number of the last attempt; 0 is the first. */
  retryAttempt = 0
  durationMs = 0
  /** What passed after the protocol was changed. */
  tunnelBytesIn = 0
  tunnelBytesOut = 0
  grpcStatus: number | null = null

  constructor(exchange: Exchange, now: number) {
    this.exchange = exchange
    this.connection = exchange.connection
    this.method = exchange.method
    this.target = exchange.target
    this.authority = exchange.authority
    this.host = normalizeHost(exchange.authority)
    const mark = exchange.target.indexOf('?')
    this.path = mark === -1 ? exchange.target : exchange.target.slice(0, mark)
    this.query = mark === -1 ? '' : exchange.target.slice(mark + 1)
    this.headers = exchange.headers
    this.upstreamTarget = exchange.target
    this.body = exchange.body
    this.startedAt = now
  }

  get scheme(): 'http' | 'https' {
    return this.connection.scheme
  }

  get version(): string {
    return this.exchange.version
  }

  get listenerName(): string | null {
    return this.listener === null ? null : this.listener.name
  }

  get routeName(): string | null {
    return this.route === null ? null : this.route.name
  }

  get srcAddr(): string {
    return this.connection.source
  }

  get sni(): string | null {
    return this.connection.sni
  }

  get traceContext(): TraceContext | null {
    if (this.spans !== null) return this.spans.context
    if (this.#clientTrace === undefined) {
      const header = this.headers.get('traceparent')
      this.#clientTrace = header === null ? null : readTraceparent(header)
    }
    return this.#clientTrace
  }

  get protocol(): string {
    return this.llm !== null ? 'llm' : this.mcp !== null ? 'mcp' : 'http'
  }

  get requestBytes(): number {
    return this.exchange.bytesIn + this.tunnelBytesIn
  }

  get responseBytes(): number {
    return this.exchange.bytesOut + this.tunnelBytesOut
  }

  /** Changes path and query for everything that follows: routing, policies and the backend see the same. */
  setTarget(target: string): void {
    this.path = targetPath(target)
    this.query = targetQuery(target)
    this.upstreamTarget = target
  }

  giveUpCallouts(): void {
    for (const giveUp of this.callouts ?? []) giveUp()
  }

  setAuthority(authority: string): void {
    this.authority = authority
    this.host = normalizeHost(authority)
    this.upstreamAuthority = authority
  }

  /** Host as it stands, before a backend's own name may replace it. */
  get currentAuthority(): string {
    return this.upstreamAuthority === '' ? this.authority : this.upstreamAuthority
  }

  /** The Host that a backend sees; `hostname` is its own name, where it has one. */
  authorityFor(hostname: string | null): string {
    if (this.upstreamAuthority !== '') return this.upstreamAuthority
    return this.hostRewrite === false || hostname === null ? this.authority : hostname
  }

  /**
   * Whether response policies treat the response as the backend's. A denied MCP item counts: its response must not differ
   * from the one for a name that does not exist.
   */
  get isFromBackend(): boolean {
    return this.reason === 'Upstream' || this.mcp?.outcome === 'denied'
  }

  /**
   * The response ended before it was whole, after its head was sent; the first cause counts. Log, metrics, record, spans and
   * trace report the request as failed by it, whether its client was cut off or was told inside of the body.
   */
  responseBroken(cause: Error): void {
    const isUpstream = cause instanceof UpstreamError
    if (this.reason === 'Upstream') {
      const isInternal = cause instanceof InternalFault
      this.reason = isInternal ? 'Internal' : isUpstream ? 'UpstreamFailure' : 'ClientGone'
    }
    this.error ??= cause.message
    if (isUpstream && this.notes === null) this.notes = { code: cause.code }
  }

  /** What a step refuses the request by, as data and never secrets: for its record, and for who watches. */
  note(details: { readonly [key: string]: unknown }): void {
    this.notes = details
    if (this.trace !== null) this.trace.note(details)
  }

  header(name: string, occurrence: number): string | undefined {
    return this.headers.nth(name, occurrence) ?? undefined
  }
}

const NOTHING_TAKEN: readonly TakenCredential[] = []
const NO_EDITS: readonly HeaderEdit[] = []
const NO_ACCOUNTS: readonly TokenAccount[] = []
const WEBSOCKET_ONLY: ReadonlySet<string> = new Set(['websocket'])
