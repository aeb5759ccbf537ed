import { isObject, type JsonObject, objectAt, textAt } from '@portico/http/json'
import type { HeaderBlock } from '@portico/http'
import { askedItem } from '../merge/for-target.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, type RpcMessage } from '../message.ts'
import { HEADER_MISMATCH, isKnownRevision, isSessionless, META, REVISIONS, UNSUPPORTED_VERSION } from '../revisions.ts'
import { decodeHeaderText, mirroredName } from '../merge/header-text.ts'

/** Why a request is refused before its body is read. */
export interface HeadRefusal {
  status: number
  text: string
}

/** `isLegacy`: the answer comes by another stream. */
export function checkPost(headers: HeaderBlock, isLegacy: boolean): HeadRefusal | null {
  if (!isLegacy && !accepts(headers, ['application/json', 'text/event-stream'])) {
    return { status: 406, text: 'Not Acceptable: the client must accept both application/json and text/event-stream' }
  }
  if (!/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')) {
    return { status: 415, text: 'Unsupported Media Type: the content type must be application/json' }
  }
  if (!/^(identity)?$/i.test(headers.joined('content-encoding') ?? '')) {
    return { status: 415, text: 'Unsupported Media Type: the message must not be compressed' }
  }
  return null
}

export function checkGet(headers: HeaderBlock): HeadRefusal | null {
  if (accepts(headers, ['text/event-stream'])) return null
  return { status: 406, text: 'Not Acceptable: the client must accept text/event-stream' }
}

function accepts(headers: HeaderBlock, types: readonly string[]): boolean {
  const ranges = (headers.joined('accept') ?? '')
    .toLowerCase()
    .split(',')
    .map((range) => range.replace(/;.*/s, '').trim())
  return types.every((type) => {
    const group = `${type.slice(0, type.indexOf('/'))}/*`
    return ranges.some((range) => range === type || range === group || range === '*/*')
  })
}

/** Why a message is not served. */
export interface Refusal {
  status: number
  code: number
  message: string
  data?: JsonObject
}

/** Which revision a message is in. */
export interface CheckedMessage {
  /** Of the header; empty when the client says nothing. */
  version: string
  /** `_meta` that says who asks; null in revisions with sessions. */
  meta: JsonObject | null
}

/**
 * Reads the revision, and holds the headers against the body: policies may look at the one, targets at the other.
 * `knowsAll`: revisions from the future are for the target to judge.
 */
export function checkMessage(message: RpcMessage, headers: HeaderBlock, knowsAll: boolean): CheckedMessage | Refusal {
  // All lines of a header count: what comes behind the first one may be what somebody else reads.
  const version = headers.joined('mcp-protocol-version') ?? ''
  const meta = objectAt(objectAt(message.value, 'params'), '_meta')
  const claimed = textAt(meta, META.version)
  if (claimed === undefined && version !== '' && !isKnownRevision(version)) return unsupported(version)
  const isModern = isSessionless(version) || claimed !== undefined
  if (message.kind === 'request' && isModern) {
    return checkSessionless(message, version, claimed, meta, { headers, knowsAll })
  }
  return checkMirror(message, headers) ?? { version, meta: isModern ? meta : null }
}

function checkSessionless(
  message: RpcMessage,
  version: string,
  claimed: string | undefined,
  meta: JsonObject,
  { headers, knowsAll }: { headers: HeaderBlock; knowsAll: boolean },
): CheckedMessage | Refusal {
  const { method } = message
  if (REMOVED.has(method)) return { status: 404, code: METHOD_NOT_FOUND, message: `Method not found: ${method}` }
  if (claimed === undefined)
    return { status: 400, code: INVALID_PARAMS, message: `Invalid params: _meta lacks ${META.version}` }
  if (version === '') return mismatch('MCP-Protocol-Version is missing')
  if (version !== claimed) return mismatch('MCP-Protocol-Version differs from the body')
  if (!isKnownRevision(claimed) && !knowsAll) return unsupported(claimed)
  if (!isObject(meta[META.capabilities])) {
    return { status: 400, code: INVALID_PARAMS, message: `Invalid params: _meta lacks ${META.capabilities}` }
  }
  const mirrored = checkMirror(message, headers)
  if (mirrored !== null) return mirrored
  if (headers.get('mcp-method') === null) return mismatch('Mcp-Method is missing')
  if (mirroredName(message) !== null && headers.get('mcp-name') === null) return mismatch('Mcp-Name is missing')
  return { version, meta }
}

/** Where headers repeat what the body says, they say the same, whatever the revision. */
function checkMirror(message: RpcMessage, headers: HeaderBlock): Refusal | null {
  const method = headers.joined('mcp-method')
  if (method !== null && method !== message.method) return mismatch('Mcp-Method differs from the body')
  const name = headers.joined('mcp-name')
  if (name === null) return null
  const decoded = decodeHeaderText(name)
  if (decoded === null) return mismatch('Mcp-Name cannot be decoded')
  const asked = askedItem(message)
  return asked !== null && asked.exposed !== decoded ? mismatch('Mcp-Name differs from the body') : null
}

function unsupported(requested: string): Refusal {
  const data = { supported: [...REVISIONS], requested }
  return {
    status: 400,
    code: UNSUPPORTED_VERSION,
    message: `Unsupported protocol version: ${requested.slice(0, 64)}`,
    data,
  }
}

function mismatch(message: string): Refusal {
  return { status: 400, code: HEADER_MISMATCH, message: `Header mismatch: ${message}` }
}

/** Gone with the sessions. */
const REMOVED = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/result',
])
