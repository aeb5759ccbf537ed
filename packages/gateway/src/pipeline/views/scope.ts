import { type HeadersView, Timestamp, type Value } from '@portico/cel'
import type { HeaderBlock } from '@portico/http'
import { BlockView } from './header-view.ts'
import type { LlmView } from '../../records/llm-view.ts'
import { McpView } from './mcp-view.ts'
import type { RequestContext } from '../context/request-context.ts'
import { SourceView } from './source-view.ts'
import { targetPath } from '../../formats/query-parameters.ts'
import type { ProxyIdentity } from '../context/proxy-identity.ts'

/** The services that expressions use besides the request. */
export interface ScopeServices {
  random: () => number
  clock: () => number
  now: () => number
  identity: ProxyIdentity
}

/** The variables of one request. Each is made when an expression first reads it. */
export class Scope {
  readonly #rx: RequestContext
  readonly #services: ScopeServices
  #request: RequestView | null = null
  #response: ResponseView | null = null
  #proxy: ProxyView | null = null
  #source: SourceView | null = null

  constructor(rx: RequestContext, services: ScopeServices) {
    this.#rx = rx
    this.#services = services
  }

  get request(): RequestView {
    return (this.#request ??= new RequestView(this.#rx, this.#services))
  }

  /** Absent until a response has begun. */
  get response(): ResponseView | undefined {
    const rx = this.#rx
    return hasHead(rx) ? (this.#response ??= new ResponseView(rx)) : undefined
  }

  get source(): SourceView {
    return (this.#source ??= new SourceView(this.#rx.connection))
  }

  get jwt(): Value | undefined {
    return (this.#rx.jwt as Value | null) ?? undefined
  }

  get apiKey(): Value | undefined {
    return (this.#rx.apiKey as Value | null) ?? undefined
  }

  get basicAuth(): { username: string } | undefined {
    return this.#rx.basicAuth ?? undefined
  }

  get metadata(): Value | undefined {
    return (this.#rx.metadata as Value | null) ?? undefined
  }

  /** The metadata of the external authorizer; absent without one. */
  get extauthz(): Value | undefined {
    return (this.#rx.extAuth?.metadata as Value | undefined) ?? undefined
  }

  /** The metadata of external processors; absent without any. */
  get extproc(): Value | undefined {
    return (this.#rx.extProc as Value | null) ?? undefined
  }

  get backend(): { name: string; type: string; protocol: string } | undefined {
    const chosen = this.#rx.route?.backends[this.#rx.backendIndex]
    return chosen === undefined ? undefined : { name: chosen.name, type: chosen.kind, protocol: 'http' }
  }

  /** Absent unless the request is a model call. */
  get llm(): LlmView | undefined {
    return this.#rx.llm?.view(this.#rx.startedAt)
  }

  /** Present only while the `ai` policy edits the request to a model. */
  get llmRequest(): Value | undefined {
    return (this.#rx.llmRequest as Value | null) ?? undefined
  }

  /** Absent unless the request is an MCP message. */
  get mcp(): McpView | undefined {
    return this.#rx.mcp === null ? undefined : new McpView(this.#rx.mcp)
  }

  get proxy(): ProxyView {
    return (this.#proxy ??= new ProxyView(this.#rx, this.#services.identity))
  }

  get env(): ProxyIdentity {
    return this.#services.identity
  }

  /** The source of numbers for `random()` and `uuid()`. */
  get random(): () => number {
    return this.#services.random
  }
}

class RequestView {
  readonly #rx: RequestContext
  readonly #services: ScopeServices
  readonly headers: HeadersView

  constructor(rx: RequestContext, services: ScopeServices) {
    this.#rx = rx
    this.#services = services
    this.headers = new BlockView(rx.headers)
  }

  get method(): string {
    return this.#rx.method
  }

  get uri(): string {
    return `${this.#rx.scheme}://${this.#rx.currentAuthority}${this.#rx.upstreamTarget}`
  }

  get host(): string {
    return this.#rx.currentAuthority
  }

  get scheme(): string {
    return this.#rx.scheme
  }

  get path(): string {
    const rx = this.#rx
    return rx.upstreamTarget === rx.target ? rx.path : targetPath(rx.upstreamTarget)
  }

  get pathAndQuery(): string {
    return this.#rx.upstreamTarget
  }

  get version(): string {
    return this.#rx.version
  }

  get startTime(): Timestamp {
    return Timestamp.fromMillis(this.#services.clock() - (this.#services.now() - this.#rx.startedAt))
  }

  get body(): Uint8Array | undefined {
    return this.#rx.bufferedBody?.whole ?? undefined
  }

  get bodyPrefix(): Uint8Array | undefined {
    return this.#rx.bufferedBody?.prefix
  }
}

/** A request whose response has begun. */
type HeadedRequest = RequestContext & { responseHeaders: HeaderBlock }

function hasHead(rx: RequestContext): rx is HeadedRequest {
  return rx.responseHeaders !== null
}

class ResponseView {
  readonly #rx: HeadedRequest

  constructor(rx: HeadedRequest) {
    this.#rx = rx
  }

  get code(): number {
    return this.#rx.status
  }

  get headers(): HeadersView {
    return new BlockView(this.#rx.responseHeaders)
  }

  get grpcStatus(): number | undefined {
    return this.#rx.grpcStatus ?? undefined
  }

  get body(): Uint8Array | undefined {
    return this.#rx.bufferedResponse?.whole ?? undefined
  }

  get bodyPrefix(): Uint8Array | undefined {
    return this.#rx.bufferedResponse?.prefix
  }
}

/** The listener and route of a request or connection, as expressions read them. */
export class ProxyView {
  readonly #rx: Pick<RequestContext, 'listener' | 'route'>
  readonly gateway: { namespace: string; name: string }

  constructor(rx: Pick<RequestContext, 'listener' | 'route'>, identity: ProxyIdentity) {
    this.#rx = rx
    this.gateway = { namespace: identity.namespace, name: identity.gateway }
  }

  get bind(): string | undefined {
    return this.#rx.listener?.bind
  }

  get listener(): { name: string | undefined } {
    return { name: this.#rx.listener?.name }
  }

  get route(): { name: string | undefined; rule: string | undefined } {
    const route = this.#rx.route
    return { name: route?.name, rule: route === null || route.rule === '' ? undefined : route.rule }
  }
}
