import type { LogValue } from '../../telemetry/log/access-log.ts'
import { attributeName } from '../../telemetry/otlp/attributes.ts'
import type { Id } from '../../telemetry/otlp/id.ts'
import { CLIENT } from '../../telemetry/otlp/span.ts'
import { messageName } from './span-name.ts'
import type { SpanFamily } from './spanned-request.ts'

/** The properties of a message to an MCP server that are known when it begins. */
export interface MessageStart {
  method: string
  /** Name of the MCP target. */
  target: string
  /** The negotiated MCP revision; empty before the negotiation. */
  version: string
}

/** The span of one message to one MCP server, from the request to the response; it may take several calls. */
export class MessageSpan {
  readonly id: Id
  readonly #family: SpanFamily
  readonly #start: MessageStart
  readonly #startedAt: number
  #endedAt = -1
  #isTold = false

  constructor(start: MessageStart, family: SpanFamily) {
    this.#start = start
    this.#family = family
    this.id = family.newSpanId()
    this.#startedAt = family.tools.now()
  }

  /** The response was forwarded; its outcome is known when the request is over. */
  passed(): void {
    if (this.#endedAt === -1) this.#endedAt = this.#family.tools.now()
  }

  /** Ends the span with the outcome of the request's MCP record. */
  finish(): void {
    const { mcp, error } = this.#family.request
    const failed = mcp === null || mcp.outcome === null || mcp.outcome === 'ok' ? null : mcp.outcome
    if (failed === 'error' && mcp !== null) return this.end(String(mcp.errorCode), mcp.errorMessage)
    if (this.#endedAt === -1) return this.end(failed ?? 'cancelled', error ?? '')
    this.end(failed, mcp?.errorMessage ?? '')
  }

  /** Exports the span; `fault` is null on success. */
  end(fault: string | null, message = ''): void {
    if (this.#isTold) return
    this.#isTold = true
    this.passed()
    const { traceId, spanId, tracestate, tools } = this.#family
    tools.encoder.begin({
      traceId,
      spanId: this.id,
      parentId: spanId,
      hasRemoteParent: false,
      tracestate,
      name: messageName(this.#start.method, this.#item),
      kind: CLIENT,
      startMs: this.#family.wall(this.#startedAt),
      endMs: this.#family.wall(this.#endedAt),
    })
    this.#write(CALL, 'mcp')
    this.#write(METHOD, this.#start.method)
    this.#write(TARGET, this.#start.target)
    this.#write(VERSION, this.#start.version)
    const item = this.#item
    if (item?.kind === 'tool') this.#write(TOOL, item.name)
    if (item?.kind === 'prompt') this.#write(PROMPT, item.name)
    if (item?.kind === 'resource') this.#write(RESOURCE, item.name)
    if (fault !== null) this.#write(ERROR_TYPE, fault)
    tools.encoder.end(fault === null ? null : message)
  }

  /** The tool, prompt or resource of the client's message, if this is the same message. */
  get #item(): { kind: string; name: string } | null {
    const { mcp } = this.#family.request
    return mcp === null || mcp.method !== this.#start.method ? null : mcp.item
  }

  #write({ name, key }: { name: string; key: Buffer }, value: LogValue): void {
    const { encoder, removed } = this.#family.tools
    if (value !== '' && !removed.has(name))
      encoder.attribute(key, typeof value === 'string' ? value.slice(0, 256) : value)
  }
}

function field(name: string): { name: string; key: Buffer } {
  return { name, key: attributeName(name) }
}

const CALL = field('portico.call')
const METHOD = field('mcp.method.name')
const TARGET = field('mcp.target')
const VERSION = field('mcp.protocol.version')
const TOOL = field('gen_ai.tool.name')
const PROMPT = field('gen_ai.prompt.name')
const RESOURCE = field('mcp.resource.uri')
const ERROR_TYPE = field('error.type')
