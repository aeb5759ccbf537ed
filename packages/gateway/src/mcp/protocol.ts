import { isUtf8 } from 'node:buffer'
import { countMembers, findMembers, isObject, type Json, type JsonObject, parseJson } from '@portico/http/json'

export type RpcId = string | number

/** One JSON-RPC message: its parsed value, and its bytes, which are forwarded unchanged. */
export interface RpcMessage {
  kind: 'request' | 'notification' | 'response'
  /** Null on notifications, and on errors about messages that could not be parsed. */
  id: RpcId | null
  /** Empty on responses. */
  method: string
  value: JsonObject
  bytes: Buffer
  /** Set when the message arrived on a stream that several running requests share: it may belong to any of them. */
  isOfMany?: true
}

/** The reason why bytes are not a valid message. */
export class BadMessage {
  readonly code: number
  readonly message: string
  /** The id of the request; null when the id could not be read. */
  readonly id: RpcId | null

  constructor(code: number, message: string, id: RpcId | null = null) {
    this.code = code
    this.message = message
    this.id = id
  }
}

/**
 * Parses one message. Bytes that another parser could read differently are rejected: bytes that are not UTF-8, and
 * objects at any depth with a duplicate member name.
 */
export function readMessage(bytes: Buffer): RpcMessage | BadMessage {
  if (!isUtf8(bytes)) return new BadMessage(PARSE_ERROR, 'Parse error: the message is not UTF-8')
  const parsed = parseJson(bytes.toString('utf8'))
  if (parsed === null) return new BadMessage(PARSE_ERROR, 'Parse error: the message is not JSON')
  const { value } = parsed
  if (Array.isArray(value)) return new BadMessage(INVALID_REQUEST, 'Invalid Request: batches are not supported')
  const found = isObject(value) ? findMembers(bytes) : null
  if (found === null || !isObject(value)) {
    return new BadMessage(INVALID_REQUEST, 'Invalid Request: the message is not a JSON object')
  }
  const id = isId(value.id) ? value.id : null
  if (countMembers(value) !== found.count) {
    return new BadMessage(INVALID_REQUEST, 'Invalid Request: duplicate member name in an object', id)
  }
  if (value.jsonrpc !== '2.0') return new BadMessage(INVALID_REQUEST, 'Invalid Request: jsonrpc must be "2.0"', id)
  return readKind(value, bytes)
}

/** Builds a message of the gateway itself. */
export function makeMessage(value: JsonObject): RpcMessage {
  const message = readKind(value, Buffer.from(JSON.stringify(value)))
  if (message instanceof BadMessage) throw new Error(message.message)
  return message
}

/** Returns the id of a request; the caller has checked the kind of the message. */
export function requestId({ id, method }: Pick<RpcMessage, 'id' | 'method'>): RpcId {
  if (id === null) throw new Error(`request ${method} has no id`)
  return id
}

/** Builds an error response of the gateway itself. */
export function rpcError(id: RpcId | null, code: number, message: string, data?: Json): RpcMessage {
  return makeMessage({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } })
}

function readKind(value: JsonObject, bytes: Buffer): RpcMessage | BadMessage {
  const { id = null, method } = value
  if (typeof method === 'string' && method !== '') {
    if (value.id === undefined) return { kind: 'notification', id: null, method, value, bytes }
    if (!isId(id)) return new BadMessage(INVALID_REQUEST, 'Invalid Request: id must be a string or a number')
    return { kind: 'request', id, method, value, bytes }
  }
  if (method !== undefined) return new BadMessage(INVALID_REQUEST, 'Invalid Request: method must be a string')
  if (value.result === undefined && value.error === undefined) {
    return new BadMessage(INVALID_REQUEST, 'Invalid Request: neither a request nor a response', isId(id) ? id : null)
  }
  if (id !== null && !isId(id))
    return new BadMessage(INVALID_REQUEST, 'Invalid Request: id must be a string or a number')
  return { kind: 'response', id, method: '', value, bytes }
}

function isId(value: Json | undefined): value is RpcId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))
}

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

/** Dated revisions of the protocol, oldest first. */
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

/** The first revision without sessions: each request carries its client's metadata. */
export const SESSIONLESS = '2026-07-28'
/** The revision of clients that state none. */
export const LATEST_WITH_SESSIONS = '2025-11-25'

export function isKnownRevision(version: string): boolean {
  return (REVISIONS as readonly string[]).includes(version)
}

/** Whether a revision has no sessions. Revisions are ISO dates, so they compare as strings. */
export function isSessionless(version: string): boolean {
  return version >= SESSIONLESS
}

/** Members of `_meta` that carry the params of `initialize` in revisions without sessions. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
} as const

/** Error codes of revisions without sessions. */
export const HEADER_MISMATCH = -32020
export const UNSUPPORTED_VERSION = -32022
/** The error code of servers for an unknown session. */
export const SESSION_NOT_FOUND = -32001
