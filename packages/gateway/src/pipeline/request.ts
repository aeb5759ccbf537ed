import type { Source } from '../net/body.ts'
import type { ConnectionInfo, Exchange } from '../net/exchange.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import { normalizeHost } from './hostname.ts'
import type { Reason } from './reply.ts'
import type { RouteCandidate } from './route.ts'
import type { RoutableRequest } from './route/request.ts'
import type { CompiledListener, CompiledRoute, RetryRule } from './compiled.ts'

/** One request with what has been found out about it. One fixed shape; policies write only fields declared here. */
export class Rx implements RoutableRequest {
  readonly exchange: Exchange
  readonly connection: ConnectionInfo
  readonly method: string
  /** The client's own path and query, which routing and logs use. */
  readonly target: string
  /** Host or `:authority` as sent. */
  readonly authority: string
  /** `authority` in lower case without its port. */
  readonly host: string
  /** Without the query. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  readonly headers: HeaderBlock
  readonly startedAt: number

  listener: CompiledListener | null = null
  route: CompiledRoute | null = null
  match: RouteCandidate<CompiledRoute> | null = null

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

  /** The response being made. */
  status = 0
  responseHeaders: HeaderBlock | null = null
  responseBody: Source | null = null

  reason: Reason = 'Upstream'
  error: string | null = null
  backendIndex = -1
  /** Address of the last attempt, `host:port`. */
  endpoint: string | null = null
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

  get protocol(): string {
    return 'http'
  }

  get requestBytes(): number {
    return this.exchange.bytesIn + this.tunnelBytesIn
  }

  get responseBytes(): number {
    return this.exchange.bytesOut + this.tunnelBytesOut
  }

  /** The Host that a backend sees; `hostname` is its own name, where it has one. */
  authorityFor(hostname: string | null): string {
    if (this.upstreamAuthority !== '') return this.upstreamAuthority
    return this.hostRewrite === false || hostname === null ? this.authority : hostname
  }

  header(name: string, occurrence: number): string | undefined {
    return this.headers.nth(name, occurrence) ?? undefined
  }
}

const WEBSOCKET_ONLY: ReadonlySet<string> = new Set(['websocket'])
