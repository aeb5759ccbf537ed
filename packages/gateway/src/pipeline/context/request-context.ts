import { spiffeIn } from '../../formats/spiffe.ts'
import { InternalFault } from '@portico/http/faults'
import type { ConnectionInfo, Exchange, HeaderBlock, Source } from '@portico/http'
import type { RecordRequest } from '../../telemetry/metrics/request-metrics.ts'
import { readTraceparent, type TraceContext } from '../../telemetry/traceparent.ts'
import type { Decision, FailedCall } from '../../telemetry/recorder/facts.ts'
import type { KeptBytes } from '../../telemetry/recorder/kept-bytes.ts'
import { UpstreamError, type UpstreamRequest } from '@portico/http/client'
import type { EndpointPick } from '../../records/endpoint-pick.ts'
import type { LlmRecord } from '../../records/llm-record.ts'
import type { KeyUse } from './key-use.ts'
import type { Spending } from './spending.ts'
import type { McpRecord } from '../../records/mcp-record.ts'
import { normalizeHost } from '../route/hostname.ts'
import type { Reason, Reply } from './reply.ts'
import type { RouteCandidate } from '../route/route-table.ts'
import type { RoutableRequest } from '../route/request.ts'
import type { BufferedBody } from './body-use.ts'
import { targetPath, targetQuery } from '../../formats/query-parameters.ts'
import type { RequestSpans } from '../spans/request-spans.ts'
import type { RequestTrace } from './trace.ts'
import type { RequestShadowRecord } from '../../records/shadow-outcome.ts'

export type JsonObject = { readonly [key: string]: unknown }

/** Token limits that a request counts against; more than the end of a call may be charged. */
export interface TokenAccount {
  charge(tokens: number): void
}

/** The numbers of one rate limit, as the `x-ratelimit-*` headers have them. */
export interface RateLimitState {
  limit: number
  remaining: number
  resetSeconds: number
}

/** A credential that authentication removed from a request. */
export interface TakenCredential {
  /** Puts the credential back byte for byte, at its old position unless its surroundings have changed. */
  restore(outgoing: Pick<UpstreamRequest, 'target' | 'headers'>): void
}

/** The answer of external authorizers to a request that they allowed. */
interface ExtAuthState {
  /** For later expressions, as `extauthz`. */
  metadata: JsonObject
  /** Changes to headers of the response to the client. */
  responseHeaders: readonly HeaderEdit[]
  /** Changes to the same headers by the authorizer of the backend. */
  backendHeaders: readonly HeaderEdit[]
}

/** A call that a policy keeps open for a request outside of the policy's steps. */
export interface OpenCall {
  /** The request is over, or has become a tunnel; `cause` says why it did not end well. */
  close(cause: Error | null): void
}

/** The shadow policies of one request. */
export interface RequestShadows extends RequestShadowRecord {
  /** Called before the request's backend is called: shadow policies that read the body copy the body from now on. */
  calling(rx: RequestContext): void
  /** Called once at the end of the request; calls `done` when all outcomes are known, which may be at once. */
  finish(rx: RequestContext, done: () => void): void
}

/** The runner of a request, for policies that act between their steps. */
export interface RequestRunner {
  /** Responds with this reply, whatever is in progress; returns false when a response has begun. */
  interrupt(reply: Reply): boolean
  /** Reports an exception in work for the request. The client gets 500, or a reset when a response has begun. */
  faulted(error: unknown): void
}

/** A change to a header that an external service asks for. */
export interface HeaderEdit {
  name: string
  value: string
  /** `append` keeps existing values; `absent` and `present` apply only when the header is missing, or set. */
  way: 'set' | 'append' | 'absent' | 'present'
}

/** The backend and endpoint that all requests of a client's session go to. */
export interface StickyEndpoint {
  /** Key of the backend. */
  backend: string
  endpoint: string
}

export interface RetryRule {
  attempts: number
  backoffMs: number
  codes: ReadonlySet<number>
}

/** The names of steps, in running order. */
interface StepNames {
  readonly names: readonly string[]
}

/** The part of a listener that every policy may read; the rest is for the runner. */
export interface ListenerIdentity {
  readonly key: string
  readonly name: string
  readonly bind: string
  readonly hostname: string
  /** Names of the steps before routing, and of the last steps of responses. */
  readonly request: StepNames | null
  readonly response: StepNames | null
  /** Counts requests that found no route. */
  readonly countUnrouted: RecordRequest
}

/** The part of a route that every policy may read. */
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
  /** The format in which clients of the route get errors of the gateway; null for a line of text. */
  readonly tellFailure: TellFailure | null
}

/** Cancels a call of a policy when its request is over. */
export type GiveUp = () => void

/** Formats a failure for the clients of a route; null keeps the line of text. */
export type TellFailure = (
  failure: Pick<Reply, 'status' | 'reason' | 'failure'>,
  rx: RequestContext,
) => { headers: readonly (readonly [name: string, value: string])[]; body: Buffer } | null

/** A request with a response; response steps get only such requests. */
export type AnsweredRequest = RequestContext & { responseHeaders: HeaderBlock; responseBody: Source }

/** One request with everything known about it. Its shape is fixed: policies write only fields that are declared here. */
export class RequestContext implements RoutableRequest {
  readonly exchange: Exchange
  readonly connection: ConnectionInfo
  method: string
  /** The path and query as the client sent them, for logs; credentials in them are redacted once they are found. */
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

  /** The path and query for the backend; rewrites change them. */
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

  /** Claims of the verified token; null without one. */
  jwt: JsonObject | null = null
  /** Metadata of the client's key. */
  apiKey: JsonObject | null = null
  /** The name of that key in the config. */
  apiKeyName: string | null = null
  /** The limits of a key of the store; null for other clients. */
  keyUse: KeyUse | null = null
  basicAuth: { username: string } | null = null
  /** Values that transformations computed for later expressions and logs. */
  metadata: Record<string, unknown> | null = null
  extAuth: ExtAuthState | null = null
  /** Metadata from external processors, for later expressions, as `extproc`. */
  extProc: JsonObject | null = null
  /** The shadow policies that have run for the request; null without any. */
  shadows: RequestShadows | null = null
  /** The original request when this context is the copy for a shadow policy; null otherwise. */
  original: RequestContext | null = null
  /** Open calls by the step that opened them. */
  open: Map<object, OpenCall> | null = null
  runner: RequestRunner | null = null
  /** Credentials that client authentication removed, in order of removal; `auth.passthrough` gives them to the backend. */
  taken: readonly TakenCredential[] = NOTHING_TAKEN
  /** The removed credential for a backend that expects it in another header; a token is preferred. */
  clientToken: string | null = null
  /** Returns `WWW-Authenticate` for a valid token that lacks a scope; set by OAuth for MCP servers. */
  scopeChallenge: ((rx: RequestContext) => string) | null = null
  /** The remainder of the tightest local rate limit, for the response. */
  rateLimit: RateLimitState | null = null
  /** Response headers that the rate limit service sets. */
  limitHeaders: readonly HeaderEdit[] = NO_EDITS
  /** Rate limits that the tokens of the request count against. */
  tokenAccounts: readonly TokenAccount[] = NO_ACCOUNTS
  /** The budgets that a model call reserves from; null without any. */
  spending: Spending | null = null
  /** The model call of this request; null without one. */
  llm: LlmRecord | null = null
  /** The body that expressions of the `ai` policy see. */
  llmRequest: JsonObject | null = null
  /** The endpoint of an inference pool that was chosen for this request; null without one. */
  pick: EndpointPick | null = null
  /** The MCP message of this request; null without one. */
  mcp: McpRecord | null = null
  /** The whole request body, once a step has asked for it. */
  bufferedBody: BufferedBody | null = null
  bufferedResponse: BufferedBody | null = null
  /** Which form of a conditional policy was chosen for this request, by its position. */
  chosen: Map<object, number> | null = null
  /** The variables of expressions, made when the first one is evaluated. */
  scope: object | null = null
  /** Cancels the calls of policies that the request waits for. */
  callouts: Set<GiveUp> | null = null
  /** Whether the client has its response, or has disconnected. */
  isOver = false
  /** The trace for the watcher of this request; null without one. */
  trace: RequestTrace | null = null
  /** Spans for an OTLP collector; null when the request is not sampled. */
  spans: RequestSpans | null = null
  /** The client's trace context; undefined until the first read. */
  #clientTrace: TraceContext | null | undefined = undefined

  /** The response being made. */
  status = 0
  responseHeaders: HeaderBlock | null = null
  responseBody: Source | null = null

  reason: Reason = 'Upstream'
  error: string | null = null
  /** The step that answered instead of a backend. */
  decision: Decision | null = null
  /** Data about the denial of the request: see `note`. */
  notes: { readonly [key: string]: unknown } | null = null
  /**
   * The delays and aborts that rehearsals applied to the request, such as `delay 200ms` and `abort 503`; null without
   * any.
   */
  rehearsal: readonly string[] | null = null
  /** Failed calls to the backend; null without any. */
  failedCalls: FailedCall[] | null = null
  /** When the head of the backend's response arrived, on the clock of `startedAt`; 0 before. */
  answeredAt = 0
  /** Whether the response of this request made the gateway evict its endpoint. */
  hasEvicted = false
  /** Serial number of the record of this request; 0 until it is assigned. */
  serial = 0
  /** The request id that client, backend and logs share; null without one. */
  requestId: string | null = null
  /** Copies of the bodies for the record; null when bodies are not recorded. */
  keptBodies: { readonly request: KeptBytes; readonly response: KeptBytes } | null = null
  /** The id of the record, which the client of a denied request gets. */
  decisionId: string | null = null
  backendIndex = -1
  /** Address of the last attempt, `host:port`. */
  endpoint: string | null = null
  /** The backend and endpoint of the client's session; null without a session. */
  sticky: StickyEndpoint | null = null
  /** Number of the last attempt; 0 is the first. */
  retryAttempt = 0
  durationMs = 0
  /** Bytes after a change of protocol. */
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

  get srcIdentity(): string | null {
    const { certificate } = this.connection
    return certificate === undefined ? null : spiffeIn(certificate.subjectAltNames)
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

  /** The host of the request, before the name of a backend may replace it. */
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

  /** Keeps data about the denial of the request, never secrets, for its record and its trace. */
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
