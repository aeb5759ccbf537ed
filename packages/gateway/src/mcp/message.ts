import { isUtf8 } from 'node:buffer'
import { countMembers, findMembers, isObject, type Json, type JsonObject, parseJson } from '@portico/http/json'

export type RpcId = string | number

/** One JSON-RPC message: what it says, and the bytes that say it, which go on as they came. */
export interface RpcMessage {
  kind: 'request' | 'notification' | 'response'
  /** Null on notifications, and on errors about messages that could not be read. */
  id: RpcId | null
  /** Empty on responses. */
  method: string
  value: JsonObject
  bytes: Buffer
  /** Several requests are under way on the one stream that it came by, and it may be about any of them. */
  isOfMany?: true
}

/** Why bytes are no message. */
export class BadMessage {
  readonly code: number
  readonly message: string
  /** Of the request, where it could be read. */
  readonly id: RpcId | null

  constructor(code: number, message: string, id: RpcId | null = null) {
    this.code = code
    this.message = message
    this.id = id
  }
}

/**
 * Reads one message. What another reader could take for another message is refused: bytes that are no UTF-8, and names
 * that stand twice in one object, wherever they are.
 */
export function readMessage(bytes: Buffer): RpcMessage | BadMessage {
  if (!isUtf8(bytes)) return new BadMessage(PARSE_ERROR, 'Parse error: the message is not UTF-8')
  const parsed = parseJson(bytes.toString('utf8'))
  if (parsed === null) return new BadMessage(PARSE_ERROR, 'Parse error: the message is not JSON')
  const { value } = parsed
  if (Array.isArray(value)) return new BadMessage(INVALID_REQUEST, 'Invalid Request: batches are not supported')
  const found = isObject(value) ? findMembers(bytes) : null
  if (found === null || !isObject(value)) {
    return new BadMessage(INVALID_REQUEST, 'Invalid Request: a message is a JSON object')
  }
  const id = isId(value.id) ? value.id : null
  if (countMembers(value) !== found.count) {
    return new BadMessage(INVALID_REQUEST, 'Invalid Request: a name stands twice in one object', id)
  }
  if (value.jsonrpc !== '2.0') return new BadMessage(INVALID_REQUEST, 'Invalid Request: jsonrpc must be "2.0"', id)
  return readKind(value, bytes)
}

/** A message that the gateway makes. */
export function makeMessage(value: JsonObject): RpcMessage {
  const message = readKind(value, Buffer.from(JSON.stringify(value)))
  if (message instanceof BadMessage) throw new Error(message.message)
  return message
}

/** An error that the gateway itself has to say. */
/** The id of a message that is a request: the caller has looked at its kind. */
export function requestId({ id, method }: Pick<RpcMessage, 'id' | 'method'>): RpcId {
  if (id === null) throw new Error(`a request without an id: ${method}`)
  return id
}

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
