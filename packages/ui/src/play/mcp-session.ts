import { isObject } from '@portico/http/json'
import type { SendCall } from '@portico/gateway/admin-send'
import { EventReader } from '../api/event-reader.ts'
import { headerOf, type Sender, type SentRequest } from './send.ts'
import { textOrJson } from '../api/unknown-values.ts'

/** A tool as an MCP server describes it. All of its texts are untrusted. */
export interface McpTool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
}

export interface McpResult {
  readonly content: readonly unknown[]
  readonly structuredContent?: unknown
  readonly isError: boolean
  /** As it came. */
  readonly raw: unknown
}

/** A tool that rules deny to this caller. */
interface HiddenItem {
  readonly name: string
  readonly why: string
}

export interface ToolList {
  readonly tools: readonly McpTool[]
  readonly hidden: readonly HiddenItem[]
}

/** A call without a result: the request was denied, or the MCP server returned an error. */
export class McpFailure extends Error {
  readonly sent: SentRequest

  constructor(message: string, sent: SentRequest) {
    super(message)
    this.sent = sent
  }
}

/** A client of the Model Context Protocol, by Streamable HTTP through the gateway. */
export class McpSession {
  readonly #send: Sender
  readonly #call: Omit<SendCall, 'method'>
  readonly #onSent: (sent: SentRequest) => void
  #session: string | null = null
  #version: string | null = null
  #begun: Promise<void> | null = null
  #lastId = 0

  constructor(send: Sender, call: Omit<SendCall, 'method'>, onSent: (sent: SentRequest) => void = () => {}) {
    this.#send = send
    this.#call = call
    this.#onSent = onSent
  }

  async listTools(signal?: AbortSignal): Promise<ToolList> {
    const tools: McpTool[] = []
    const hidden = new Map<string, HiddenItem>()
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const { result, sent } = await this.#asked('tools/list', cursor === undefined ? {} : { cursor }, signal)
      const listed = isObject(result) && Array.isArray(result['tools']) ? (result['tools'] as unknown[]) : []
      tools.push(...listed.filter(isTool))
      for (const item of hiddenIn(sent)) hidden.set(item.name, item)
      const next = isObject(result) ? result['nextCursor'] : undefined
      if (typeof next !== 'string' || next === cursor) break
      cursor = next
    }
    return { tools, hidden: [...hidden.values()] }
  }

  async callTool(name: string, args: unknown, signal?: AbortSignal): Promise<{ result: McpResult; sent: SentRequest }> {
    const { result, sent } = await this.#asked('tools/call', { name, arguments: args }, signal)
    if (!isObject(result)) throw new McpFailure('The MCP server returned no result', sent)
    const { content, structuredContent, isError } = result
    return {
      result: {
        content: Array.isArray(content) ? (content as unknown[]) : [],
        ...(structuredContent !== undefined && { structuredContent }),
        isError: isError === true,
        raw: result,
      },
      sent,
    }
  }

  /** Ends the session, so that the gateway can stop programs it started for it. */
  async end(): Promise<void> {
    if (this.#session === null) return
    const session = this.#session
    this.#session = null
    this.#begun = null
    await this.#send({ ...this.#call, method: 'DELETE', headers: [...this.#headers(), ['mcp-session-id', session]] })
  }

  async #asked(method: string, params: object, signal: AbortSignal | undefined): Promise<McpReply> {
    for (const isLast of [false, true]) {
      this.#begun ??= this.#begin(signal)
      try {
        await this.#begun
      } catch (error) {
        this.#begun = null
        throw error
      }
      const sent = await this.#post({ id: ++this.#lastId, method, params }, signal)
      // The session has expired: begin a new one, once.
      if (sent.status === 404 && this.#session !== null && !isLast) {
        this.#session = null
        this.#begun = null
        continue
      }
      return resultOf(sent, this.#lastId)
    }
    throw new Error('unreachable: the second try returns')
  }

  async #begin(signal: AbortSignal | undefined): Promise<void> {
    this.#version = null
    const params = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'portico-ui', version: '1' } }
    const sent = await this.#post({ id: ++this.#lastId, method: 'initialize', params }, signal)
    const { result } = resultOf(sent, this.#lastId)
    this.#session = headerOf(sent, 'mcp-session-id')
    const version = isObject(result) ? result['protocolVersion'] : undefined
    this.#version = typeof version === 'string' ? version : VERSION
    await this.#post({ method: 'notifications/initialized' }, signal)
  }

  async #post(message: object, signal: AbortSignal | undefined): Promise<SentRequest> {
    const sent = await this.#send(
      {
        ...this.#call,
        method: 'POST',
        headers: [
          ...this.#headers(),
          ['content-type', 'application/json'],
          ['accept', 'application/json, text/event-stream'],
          ...(this.#session === null ? [] : [['mcp-session-id', this.#session] as const]),
        ],
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
        trace: true,
      },
      signal === undefined ? {} : { signal },
    )
    this.#onSent(sent)
    return sent
  }

  #headers(): (readonly [string, string])[] {
    return [
      ...(this.#call.headers ?? []),
      ...(this.#version === null ? [] : [['mcp-protocol-version', this.#version] as const]),
    ]
  }
}

interface McpReply {
  result: unknown
  sent: SentRequest
}

function resultOf(sent: SentRequest, id: number): McpReply {
  if (sent.status === null || sent.status >= 300)
    throw new McpFailure(sent.text.trim().slice(0, 500) || (sent.end?.error ?? `Status ${sent.status ?? 'none'}`), sent)
  const message = messagesOf(sent).find((each) => isObject(each) && each['id'] === id)
  if (!isObject(message)) throw new McpFailure(sent.end?.error ?? 'The MCP server did not answer the message', sent)
  const { error } = message
  if (isObject(error)) throw new McpFailure(`${textOrJson(error['code'])}: ${textOrJson(error['message'])}`, sent)
  return { result: message['result'], sent }
}

/** The messages of a response: one JSON message, or a stream of messages. */
function messagesOf(sent: SentRequest): unknown[] {
  const isStream = (headerOf(sent, 'content-type') ?? '').startsWith('text/event-stream')
  const texts = isStream ? new EventReader().read(`${sent.text.replaceAll('\r\n', '\n')}\n\n`) : [sent.text]
  return texts.flatMap((text) => {
    try {
      return [JSON.parse(text) as unknown]
    } catch {
      return []
    }
  })
}

/** The tools that rules removed from the list, by the trace of the request. */
function hiddenIn({ trace }: SentRequest): HiddenItem[] {
  return trace.flatMap(({ message }) => {
    if (message.type !== 'mcpFiltered' || !Array.isArray(message['items'])) return []
    return (message['items'] as unknown[])
      .filter((item) => isObject(item))
      .map((item) => ({
        name: textOrJson(item['name']),
        why: whyHidden(item),
      }))
  })
}

function whyHidden({ rules, by }: Record<string, unknown>): string {
  if (by === 'tools') return 'not in `tools` of the target'
  const names = (Array.isArray(rules) ? (rules as unknown[]) : []).map((rule) =>
    isObject(rule) ? `${textOrJson(rule['mode'])} ${textOrJson(rule['name'])}`.trim() : textOrJson(rule),
  )
  return names.length === 0 ? 'denied by a rule' : names.join(', ')
}

function isTool(value: unknown): value is McpTool {
  return isObject(value) && typeof value['name'] === 'string'
}

const VERSION = '2025-11-25'
const MAX_PAGES = 64
