import assert from 'node:assert/strict'

/** A client of MCP by hand: requests that no library makes, and answers as they came. */
export class McpCaller {
  readonly url: string
  readonly headers: Record<string, string>
  #lastId = 0

  constructor(port: number, headers: Record<string, string> = {}, path = '/mcp') {
    this.url = `http://127.0.0.1:${port}${path}`
    this.headers = headers
  }

  /** The same with a session, begun here. */
  async begin(params: object = {}): Promise<McpCaller> {
    const answer = await this.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: CLIENT,
      ...params,
    })
    assert.equal(answer.status, 200, answer.text)
    const session = answer.headers.get('mcp-session-id')
    const caller = session === null ? this : this.with({ 'mcp-session-id': session })
    await caller.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return caller
  }

  with(headers: Record<string, string>): McpCaller {
    return new McpCaller(Number(new URL(this.url).port), { ...this.headers, ...headers }, new URL(this.url).pathname)
  }

  get session(): string {
    return this.headers['mcp-session-id'] ?? ''
  }

  /** A request with an id of its own. */
  ask(method: string, params?: object): Promise<McpAnswer> {
    return this.send({ jsonrpc: '2.0', id: ++this.#lastId, method, ...(params && { params }) })
  }

  /** The same in a revision without sessions, by a client that can do this; `_meta` of the params is added to. */
  askModern(method: string, params: Record<string, unknown> = {}, capabilities: object = {}): Promise<McpAnswer> {
    return this.with(modernHeaders(method, params)).ask(method, modernParams(params, capabilities))
  }

  /** A request of such a revision whose answer has no end. */
  openModern(
    method: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
    capabilities: object = {},
  ): Promise<Response> {
    const message = { jsonrpc: '2.0', id: ++this.#lastId, method, params: modernParams(params, capabilities) }
    return this.open(message, modernHeaders(method, params), signal)
  }

  async send(message: object | string | Uint8Array, headers: Record<string, string> = {}): Promise<McpAnswer> {
    const response = await this.open(message, headers)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, messages: messagesIn(response, text) }
  }

  /** The answer as soon as its head is there. */
  open(
    message: object | string | Uint8Array,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const body = typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message)
    return fetch(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...this.headers,
        ...headers,
      },
      body: body as string,
      redirect: 'manual',
      ...(signal && { signal }),
    })
  }

  /** The stream of the session. */
  listen(headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return fetch(this.url, {
      headers: { accept: 'text/event-stream', ...this.headers, ...headers },
      ...(signal && { signal }),
    })
  }

  end(): Promise<Response> {
    return fetch(this.url, { method: 'DELETE', headers: this.headers })
  }
}

export interface McpAnswer {
  status: number
  headers: Headers
  text: string
  /** The message of a JSON response, or all messages of a stream. */
  messages: RpcAnswer[]
}

export interface RpcAnswer {
  id?: unknown
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

interface SseEvent {
  id: string
  data: string
}

/** Reads events one by one; null at the end. */
export function eventReader(response: Response): () => Promise<SseEvent | null> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return async () => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end !== -1) {
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        const event = eventIn(block)
        if (event !== null) return event
        continue
      }
      const { done, value } = await reader.read()
      if (done) return null
      text += value
    }
  }
}

/** Null for a comment. */
function eventIn(block: string): SseEvent | null {
  const lines = block.split('\n').filter((line) => !line.startsWith(':'))
  if (lines.length === 0) return null
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
  return { id: valuesOf('id')[0] ?? '', data: valuesOf('data').join('\n') }
}

function messagesIn(response: Response, text: string): RpcAnswer[] {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('application/json')) return [JSON.parse(text) as RpcAnswer]
  if (!type.startsWith('text/event-stream')) return []
  const events = text.split('\n\n').map(eventIn)
  return events.flatMap((event) => (event === null || event.data === '' ? [] : (JSON.parse(event.data) as RpcAnswer)))
}

function modernHeaders(method: string, params: Record<string, unknown>): Record<string, string> {
  const name = params['name'] ?? params['uri'] ?? params['taskId']
  return { ...MODERN, 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': name }) }
}

function modernParams(params: Record<string, unknown>, capabilities: object): object {
  const _meta = { ...(params['_meta'] as object), ...MODERN_META }
  return { ...params, _meta: { ..._meta, 'io.modelcontextprotocol/clientCapabilities': capabilities } }
}

export const CLIENT = { name: 'caller', version: '1' }
export const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const MODERN = { 'mcp-protocol-version': '2026-07-28' }
