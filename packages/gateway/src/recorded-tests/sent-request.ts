import { REDACTED } from '../redaction/secret-names.ts'
import type { Ir } from '../ir/resources.ts'
import type { JsonObject } from '../schema/kit.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { chatBody } from '../backtest/chat-body.ts'
import { portOf } from '../backtest/replayed-request.ts'

/** A recorded request in the form of `send` in a test. */
export interface SentRequest {
  /** The possible forms of the request, the most probable first. */
  readonly sends: readonly JsonObject[]
  /** The names, in lower case, of headers whose values are redacted. */
  readonly redacted: readonly string[]
  readonly replaced: readonly string[]
}

/** Returns the request of a record; returns the reason as a string when the request cannot be sent again. */
export function sentRequest(record: RequestRecord, ir: Ir): SentRequest | string {
  const { method, path, host, scheme, status, mcp } = record
  if (method === null || path === null || host === null)
    return 'it is a connection without HTTP, or a malformed message'
  if (method === 'CONNECT' || status === 101) return 'what flows after a change of protocol is not recorded'
  if (path.includes('…')) return 'its path is too long to be recorded'
  const port = portOf(record)
  const target = path.replaceAll(REDACTED, STAND_IN)
  const isOnly = port === null || ir.binds.length === 1
  const { headers, redacted, missing } = headersOf(record)
  const place = {
    path: scheme === 'https' ? `https://${host}${target}` : target,
    ...(scheme === 'http' && { host }),
    ...(!isOnly && { port }),
    ...(record.version === 'HTTP/2' && { version: 'HTTP/2' }),
  }
  if (mcp !== null && record.requestBody === null && method === 'POST') {
    const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_MESSAGE.test(name)))
    const sends = messagesOf(mcp).map((message) => ({ ...place, ...message, ...headersIn(own) }))
    if (sends.length === 0) return 'its MCP message is not recorded'
    return { sends, redacted, replaced: ['arguments of the MCP message', ...missing] }
  }
  const body = bodyOf(record)
  const typed = body?.isJson === true ? { 'content-type': 'application/json', ...headers } : headers
  return {
    sends: [{ method, ...place, ...headersIn(typed), ...(body !== null && { body: body.text }) }],
    redacted,
    replaced: [
      ...(target === path ? [] : ['secrets in the query']),
      ...missing,
      ...(body?.replaced === undefined ? [] : [body.replaced]),
    ],
  }
}

function headersIn(headers: Record<string, string>): JsonObject {
  return Object.keys(headers).length === 0 ? {} : { headers }
}

/**
 * Returns the MCP messages that the client may have sent: clients know a tool by its own name, or by a name that begins
 * with its target.
 */
function messagesOf({ method, target, kind, name }: NonNullable<RequestRecord['mcp']>): JsonObject[] {
  if (method === '') return []
  if (name === null || kind === null) return [{ mcp: method }]
  const names = [name, `${target}_${name}`]
  if (kind === 'resource') return names.map((uri) => ({ mcp: method, params: { uri } }))
  if (kind === 'task') return names.map((taskId) => ({ mcp: method, params: { taskId } }))
  return names.map((each) => ({ mcp: method, params: { name: each, ...(kind === 'tool' && { arguments: {} }) } }))
}

function headersOf({ requestHeaders }: RequestRecord): {
  headers: Record<string, string>
  redacted: string[]
  missing: string[]
} {
  const headers: Record<string, string> = {}
  const redacted: string[] = []
  const cut: string[] = []
  if (requestHeaders === null) return { headers, redacted, missing: ['headers, which are not recorded'] }
  for (const [name, value] of Object.entries(requestHeaders)) {
    if (OF_CONNECTION.has(name)) continue
    const line = typeof value === 'string' ? value : value.join(', ')
    if (line === REDACTED || CREDENTIAL_NAMES.has(name)) redacted.push(name)
    else if (line.endsWith('…')) cut.push(`the header ${name}, of which a part is recorded`)
    else headers[name] = line.replaceAll(REDACTED, STAND_IN)
    if (headers[name] !== undefined && line.includes(REDACTED)) cut.push(`a secret in the header ${name}`)
  }
  return { headers, redacted, missing: cut }
}

function bodyOf(record: RequestRecord): { text: string; isJson: boolean; replaced?: string } | null {
  const { requestBody, bytesIn } = record
  if (requestBody !== null && !requestBody.isCut && requestBody.text !== null) {
    const { text } = requestBody
    if (!text.includes(REDACTED)) return { text, isJson: false }
    return { text: text.replaceAll(REDACTED, STAND_IN), isJson: false, replaced: 'secrets in the body' }
  }
  if (bytesIn === 0) return null
  const chat = chatBody(record)
  if (chat !== null) return { text: JSON.stringify(chat), isJson: true, replaced: 'the text of the model call' }
  // A body of the same length is enough, because size limits read only the length.
  return { text: 'x'.repeat(Math.min(bytesIn, MOST_BODY)), isJson: false, replaced: 'the body, by one of this length' }
}

export const STAND_IN = 'stand-in'
const MOST_BODY = 65_536
/** Headers of the connection and of the message framing, which the client of a test writes itself. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'proxy-connection', 'expect'],
])
/** Headers that the client of a test writes for an MCP message. */
const OF_MESSAGE = /^(?:mcp-|content-|accept$)/
const CREDENTIAL_NAMES: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie'])
