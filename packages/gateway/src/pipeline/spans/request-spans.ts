import {
  isPlain,
  type LineChanges,
  plainFields,
  recordFields,
  traceFields,
  modelFields,
} from '../../telemetry/log/access-log.ts'
import { attributeName } from '../../telemetry/otlp/attributes.ts'
import { Id } from '../../telemetry/otlp/id.ts'
import { SERVER } from '../../telemetry/otlp/span.ts'
import { SAMPLED, type TraceContext } from '../../telemetry/traceparent.ts'
import type { Cloud, CredentialWatch } from '../cloud-credentials.ts'
import { CallSpan, type CallStart } from './call-span.ts'
import { beginCredentialSpan } from './credential-span.ts'
import { isRemoved, requestAttributes } from './http-attributes.ts'
import { MessageSpan, type MessageStart } from './message-span.ts'
import { LONGEST_NAME, spanName } from './span-name.ts'
import type { CallPurpose, SpanFamily, SpannedRequest, SpanTools } from './spanned-request.ts'
import type { IncomingTrace } from './trace-headers.ts'

/** The parent of the span of a call; `purpose` is null for a call to the backend of the request. */
export interface SpanParent {
  readonly spans: RequestSpans
  readonly parentId: Id
  readonly purpose: CallPurpose | null
}

/** The spans of one sampled request: its own span, and one for each call that is made for it. */
export class RequestSpans implements SpanFamily, CredentialWatch {
  readonly traceId: Id
  /** The id of the span of the request itself. */
  readonly spanId: Id
  readonly incoming: IncomingTrace | null
  /** The parent of calls to the backend. */
  readonly parent: SpanParent
  readonly tools: SpanTools
  readonly request: SpannedRequest
  readonly #changes: (() => LineChanges) | null
  /** Wall-clock time minus time of `now`; the same for all spans of the request, so that their order is right. */
  readonly #offset: number
  /** The last attempt; its span is exported when the request is over, because its result may be unknown before. */
  #attempt: CallSpan | null = null
  #hasModelCall = false
  #messages: MessageSpan[] | null = null

  /** `changes` computes the attributes of the config when the request is over. */
  constructor(
    request: SpannedRequest,
    incoming: IncomingTrace | null,
    tools: SpanTools,
    changes: (() => LineChanges) | null,
  ) {
    this.request = request
    this.incoming = incoming
    this.tools = tools
    this.#changes = changes
    // The request has just begun, so both clocks show its start.
    this.#offset = tools.clock() - request.startedAt
    this.traceId = incoming === null ? Id.ofTrace(tools.random) : Id.of(incoming.traceId)
    this.spanId = this.newSpanId()
    this.parent = { spans: this, parentId: this.spanId, purpose: null }
  }

  parentFor(purpose: CallPurpose): SpanParent {
    return { spans: this, parentId: this.spanId, purpose }
  }

  begin(start: CallStart): CallSpan {
    const span = new CallSpan(start, this)
    if (!span.isAttempt) return span
    this.#attempt?.tell(null)
    this.#attempt = span
    if (span.model !== null) this.#hasModelCall = true
    return span
  }

  /** Begins the span of a message to an MCP server; `parent` is the parent for the calls of the message. */
  beginMessage(start: MessageStart): { span: MessageSpan; parent: SpanParent } {
    const span = new MessageSpan(start, this)
    ;(this.#messages ??= []).push(span)
    return { span, parent: { spans: this, parentId: span.id, purpose: null } }
  }

  obtaining(cloud: Cloud): (reason: string | null) => void {
    return beginCredentialSpan(this, cloud)
  }

  /** Exports the remaining spans when the request is over. */
  finish(): void {
    if (this.#messages !== null) for (const message of this.#messages) message.finish()
    this.#attempt?.finish()
    this.#attempt = null
    const { encoder, removed, gateway } = this.tools
    const request = this.request
    const changes = this.#changes?.() ?? null
    const added = changes?.added.get('span.name')
    encoder.begin({
      traceId: this.traceId,
      spanId: this.spanId,
      parentId: this.incoming === null ? null : Id.of(this.incoming.spanId),
      hasRemoteParent: this.incoming !== null,
      tracestate: this.tracestate,
      name: typeof added === 'string' && added !== '' ? added.slice(0, LONGEST_NAME) : spanName(request),
      kind: SERVER,
      startMs: this.wall(request.startedAt),
      endMs: this.wall(request.startedAt + request.durationMs),
    })
    const fault = faultOf(request)
    if (!removed.has('gateway')) encoder.attribute(GATEWAY, gateway)
    for (const { name, key, isModel, read } of isPlain(request) ? PLAIN_FIELDS : FIELDS) {
      // The span of the model call has these attributes; a sum of tokens over all spans must not count them twice.
      if ((isModel && this.#hasModelCall) || (removed.size > 0 && removed.has(name))) continue
      const value = read(request)
      if (value !== null) encoder.attribute(key, value)
    }
    for (const attribute of requestAttributes) {
      if (isRemoved(attribute, removed)) continue
      const value = attribute.read(request)
      if (value !== null) encoder.attribute(attribute.key, value)
    }
    if (fault !== null) encoder.attribute(ERROR_TYPE, fault)
    if (changes !== null) {
      for (const [name, value] of changes.added) if (name !== 'span.name') encoder.addedAttribute(name, value)
    }
    encoder.end(fault === null ? null : (request.error ?? ''))
  }

  wall(time: number): number {
    return this.#offset + time
  }

  newSpanId(): Id {
    return Id.ofSpan(this.tools.random)
  }

  /** The trace context of the span of the request, for logs and exemplars. */
  get context(): TraceContext {
    return { traceId: this.traceId.hex, spanId: this.spanId.hex, flags: SAMPLED }
  }

  get tracestate(): string {
    return this.incoming?.tracestate ?? ''
  }
}

/** Returns the `error.type` of a failure on the server side; null for success and for errors of the client. */
function faultOf({ status, error, reason, grpcStatus }: SpannedRequest): string | null {
  if (status >= 500 || status === 0) return reason === 'Upstream' ? String(status) : reason
  if (error !== null && status < 400) return reason
  return grpcStatus !== null && GRPC_FAULTS.has(grpcStatus) ? String(grpcStatus) : null
}

/** Fields that are no attributes: the span has its own status, times and ids for them. */
const UNSAID = new Set(['error', 'duration', ...traceFields])
const MODEL_FIELDS = new Set(modelFields.map(([name]) => name).filter((name) => name.startsWith('gen_ai.')))
const FIELDS = fieldsIn(recordFields)
const PLAIN_FIELDS = fieldsIn(plainFields)

function fieldsIn(fields: typeof recordFields) {
  return [
    ...fields.filter(([name]) => !UNSAID.has(name)).map(([name, read]) => field(name, read, MODEL_FIELDS.has(name))),
    field('url.scheme', ({ scheme }) => scheme),
    field('network.protocol.version', ({ version }) => (version === null ? null : version.slice('HTTP/'.length))),
  ]
}

function field(name: string, read: (request: SpannedRequest) => string | number | boolean | null, isModel = false) {
  return { name, key: attributeName(name), isModel, read }
}

const GATEWAY = attributeName('gateway')
const ERROR_TYPE = attributeName('error.type')
/** gRPC codes of server errors: unknown, deadline exceeded, unimplemented, internal, unavailable, data loss. */
const GRPC_FAULTS = new Set([2, 4, 12, 13, 14, 15])
