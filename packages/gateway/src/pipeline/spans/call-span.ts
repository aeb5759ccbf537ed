import type { LogValue } from '../../telemetry/log/access-log.ts'
import { attributeName } from '../../telemetry/otlp/attributes.ts'
import type { Id } from '../../telemetry/otlp/id.ts'
import { CLIENT } from '../../telemetry/otlp/span.ts'
import { callAttributes, isRemoved, withoutQuery } from './http-attributes.ts'
import { ModelCall } from './model-call.ts'
import type { CallPurpose, SpanFamily, SpannedRequest } from './spanned-request.ts'

/** The properties of a call that are known when it begins. */
export interface CallStart {
  parentId: Id
  purpose: CallPurpose | null
  /** The called backend. */
  backend: { readonly name: string; readonly kind: string }
  method: string
  authority: string
  /** Path and query; spans leave the query out, because it may contain a key. */
  target: string
}

interface Fault {
  type: string
  message: string
}

/** The span of one upstream call, until the end of the response. */
export class CallSpan {
  readonly id: Id
  readonly parentId: Id
  /** Null unless the call is to a model. */
  readonly model: ModelCall | null
  /** The address of the upstream. */
  endpoint: string | null = null
  /** Null before an address was chosen. */
  scheme: 'http' | 'https' | null = null
  readonly #family: SpanFamily
  readonly #start: CallStart
  /** `backend`, `llm`, `mcp`, or the purpose of a policy's call. */
  readonly #what: string
  readonly #startedAt: number
  readonly #retry: number
  #status = 0
  #grpcStatus: number | null = null
  #endedAt = -1
  /** Whether the caller canceled the call. */
  #isCut = false
  #fault: Fault | null = null
  #isTold = false

  constructor(start: CallStart, family: SpanFamily) {
    this.#start = start
    this.#family = family
    this.id = family.newSpanId()
    this.parentId = start.parentId
    this.#what = start.purpose ?? KINDS.get(start.backend.kind) ?? 'backend'
    this.model = this.#what === 'llm' && family.request.llm !== null ? new ModelCall(family.request.llm) : null
    this.#retry = this.isAttempt ? family.request.retryAttempt : 0
    this.#startedAt = family.tools.now()
  }

  /** Whether this is an attempt for the request itself; retries make several attempts. */
  get isAttempt(): boolean {
    return this.#what === 'backend' || this.#what === 'llm'
  }

  /** Records the response head; returns false without a gRPC status. */
  answered(status: number, grpcStatus: string | null): boolean {
    this.#status = status
    return this.trailed(grpcStatus)
  }

  trailed(grpcStatus: string | null): boolean {
    if (grpcStatus === null || !/^[0-9]{1,9}$/.test(grpcStatus)) return false
    this.#grpcStatus = Number(grpcStatus)
    return true
  }

  failed(type: string, message: string): void {
    if (this.#endedAt === -1) this.#fault ??= { type, message }
    this.ended()
  }

  /** The caller canceled the call, or the rest of the response. */
  cut(cause: string): void {
    if (this.#endedAt !== -1) return
    this.#isCut = true
    if (this.#status === 0 && !this.isAttempt) this.#fault = { type: 'cancelled', message: cause }
    this.ended()
  }

  ended(): void {
    if (this.#endedAt !== -1) return
    this.#endedAt = this.#family.tools.now()
    // The result of an attempt is known only when the next attempt begins or the request is over.
    if (!this.isAttempt) this.tell(null)
  }

  /** Ends the span of the last attempt when the request is over. */
  finish(): void {
    const { request } = this.#family
    const isPartial = this.#isCut || this.#endedAt === -1
    if (isPartial && (request.error !== null || this.#status === 0)) {
      this.#fault ??= {
        type: request.reason === 'Upstream' ? 'cancelled' : request.reason,
        message: request.error ?? '',
      }
    }
    this.tell(request)
  }

  /** Exports the span; `request` is given when its model record is about this call. */
  tell(request: SpannedRequest | null): void {
    if (this.#isTold) return
    this.#isTold = true
    if (this.#endedAt === -1) this.#endedAt = this.#family.tools.now()
    const { traceId, tracestate, tools } = this.#family
    const fault = this.#fault ?? this.#faultOfAnswer()
    tools.encoder.begin({
      traceId,
      spanId: this.id,
      parentId: this.parentId,
      hasRemoteParent: false,
      tracestate,
      name: this.#name,
      kind: CLIENT,
      startMs: this.#family.wall(this.#startedAt),
      endMs: this.#family.wall(this.#endedAt),
    })
    this.#writeAttributes()
    this.model?.write(request?.llm ?? null, request?.startedAt ?? 0, tools)
    if (fault !== null) tools.encoder.attribute(ERROR_TYPE, fault.type)
    tools.encoder.end(fault === null ? null : fault.message)
  }

  get #name(): string {
    const { purpose, method, backend } = this.#start
    return this.model?.name ?? purpose ?? `${method} ${backend.name}`
  }

  #faultOfAnswer(): Fault | null {
    if (this.#status === 0) return { type: 'cancelled', message: '' }
    if (this.#status >= 400) return { type: String(this.#status), message: '' }
    const code = this.#grpcStatus
    return code === null || code === 0 ? null : { type: String(code), message: '' }
  }

  #writeAttributes(): void {
    const { method, authority, target } = this.#start
    this.#write(CALL, this.#what)
    this.#write(METHOD, method)
    this.#write(HOST, authority)
    this.#write(PATH, target === '' ? null : withoutQuery(target))
    this.#write(STATUS, this.#status === 0 ? null : this.#status)
    this.#write(GRPC_STATUS, this.#grpcStatus)
    this.#write(ENDPOINT, this.endpoint)
    this.#write(RESEND_COUNT, this.#retry === 0 ? null : this.#retry)
    const { endpoint, scheme } = this
    const call = { method, authority, target, status: this.#status, endpoint, scheme }
    const { encoder, removed } = this.#family.tools
    for (const attribute of callAttributes) {
      if (isRemoved(attribute, removed)) continue
      const value = attribute.read(call)
      if (value !== null) encoder.attribute(attribute.key, value)
    }
  }

  #write({ name, key }: { name: string; key: Buffer }, value: LogValue): void {
    const { encoder, removed } = this.#family.tools
    if (value !== null && (removed.size === 0 || !removed.has(name))) encoder.attribute(key, value)
  }
}

const KINDS = new Map([
  ['ai', 'llm'],
  ['mcp', 'mcp'],
])

function field(name: string): { name: string; key: Buffer } {
  return { name, key: attributeName(name) }
}

const CALL = field('portico.call')
const METHOD = field('http.method')
const HOST = field('http.host')
const PATH = field('http.path')
const STATUS = field('http.status')
const GRPC_STATUS = field('grpc.status')
const ENDPOINT = field('endpoint')
const RESEND_COUNT = field('http.request.resend_count')
const ERROR_TYPE = attributeName('error.type')
