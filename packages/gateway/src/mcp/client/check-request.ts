import { isObject, type JsonObject, objectAt, textAt } from '@portico/http/json'
import type { HeaderBlock } from '@portico/http'
import { askedItem } from '../merge/item-methods.ts'
import {
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  type RpcMessage,
  HEADER_MISMATCH,
  isKnownRevision,
  isSessionless,
  META,
  REVISIONS,
  UNSUPPORTED_VERSION,
} from '../protocol.ts'
import type { Endpoint } from '../engine/endpoint.ts'
import { decodeHeaderText, mirroredName } from '../merge/header-text.ts'
import { isOwnOrigin } from '../../pipeline/policy/own-origin.ts'

/** The reason for refusing a request before its body is read. */
interface HeadRefusal {
  status: number
  text: string
}

/** Checks the headers of a POST. `isLegacy`: the response is sent on another stream, so `Accept` does not matter. */
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

/** The reason for refusing a message. */
export interface Refusal {
  status: number
  code: number
  message: string
  data?: JsonObject
}

/** A message that passed the checks. */
export interface CheckedMessage {
  /** The revision in the `MCP-Protocol-Version` header; empty without the header. */
  version: string
  /** The `_meta` with the client's info and capabilities; null in revisions with sessions. */
  meta: JsonObject | null
}

/**
 * Reads the revision, and checks that the headers agree with the body: policies may read the headers, and targets the
 * body. `acceptsUnknown`: unknown revisions go to the target, which decides.
 */
export function checkMessage(
  message: RpcMessage,
  headers: HeaderBlock,
  acceptsUnknown: boolean,
): CheckedMessage | Refusal {
  // All lines of the header are read: a target may read another line than the first one.
  const version = headers.joined('mcp-protocol-version') ?? ''
  const meta = objectAt(objectAt(message.value, 'params'), '_meta')
  const claimed = textAt(meta, META.version)
  if (claimed === undefined && version !== '' && !isKnownRevision(version)) return unsupported(version)
  const isModern = isSessionless(version) || claimed !== undefined
  if (message.kind === 'request' && isModern) {
    return checkSessionless(message, version, claimed, meta, { headers, acceptsUnknown })
  }
  return checkMirror(message, headers) ?? { version, meta: isModern ? meta : null }
}

function checkSessionless(
  message: RpcMessage,
  version: string,
  claimed: string | undefined,
  meta: JsonObject,
  { headers, acceptsUnknown }: { headers: HeaderBlock; acceptsUnknown: boolean },
): CheckedMessage | Refusal {
  const { method } = message
  if (REMOVED.has(method)) return { status: 404, code: METHOD_NOT_FOUND, message: `Method not found: ${method}` }
  if (claimed === undefined)
    return { status: 400, code: INVALID_PARAMS, message: `Invalid params: _meta lacks ${META.version}` }
  if (version === '') return mismatch('MCP-Protocol-Version is missing')
  if (version !== claimed) return mismatch('MCP-Protocol-Version differs from the body')
  if (!isKnownRevision(claimed) && !acceptsUnknown) return unsupported(claimed)
  if (!isObject(meta[META.capabilities])) {
    return { status: 400, code: INVALID_PARAMS, message: `Invalid params: _meta lacks ${META.capabilities}` }
  }
  const mirrored = checkMirror(message, headers)
  if (mirrored !== null) return mirrored
  if (headers.get('mcp-method') === null) return mismatch('Mcp-Method is missing')
  if (mirroredName(message) !== null && headers.get('mcp-name') === null) return mismatch('Mcp-Name is missing')
  return { version, meta }
}

/** Refuses headers that repeat a value of the body and differ from it, in any revision. */
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

/** Methods that revisions without sessions do not have. */
const REMOVED = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/result',
])

export interface GuardConfig {
  allowedHosts: readonly string[] | undefined
  allowedOrigins: readonly string[] | undefined
  /** Whether the route matches certain hostnames only. */
  hasHostnames: boolean
  /** Whether a CORS policy of the route allows the origin. */
  corsAllows: (origin: string) => boolean
}

/**
 * Creates the check that keeps out web pages which reach the gateway under their own hostname (DNS rebinding), and pages
 * of other origins.
 */
export function createGuard({
  allowedHosts,
  allowedOrigins,
  hasHostnames,
  corsAllows,
}: GuardConfig): Endpoint['guard'] {
  const hosts = allowedHosts === undefined ? null : new Set(allowedHosts.map((host) => host.toLowerCase()))
  const origins = new Set(allowedOrigins?.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
  return (rx) => {
    const authority = rx.authority.toLowerCase()
    const isLoopbackName = isLoopback(rx.host)
    // Routing has matched the request against the hostnames of the config.
    const hasName = hosts !== null || hasHostnames || (rx.listener !== null && rx.listener.hostname !== '')
    if (hosts !== null && !hosts.has('*') && !hosts.has(authority) && !hosts.has(rx.host)) {
      return NOT_THIS_HOST
    }
    // A local client uses a name of this machine; a page from elsewhere uses its own hostname.
    if (!hasName && !isLoopbackName && isLoopbackAddress(rx.connection.rawAddress)) return NOT_THIS_HOST
    const origin = rx.headers.get('origin')
    if (origin === null) return null
    const text = origin.toLowerCase()
    if (origins.has('*') || origins.has(text) || corsAllows(origin)) return null
    const host = hostOf(text)
    if (host === null) return NOT_THIS_ORIGIN
    if (isLoopbackName && isLoopback(host)) return null
    return hasName && isOwnOrigin(rx, authority, text) ? null : NOT_THIS_ORIGIN
  }
}

function hostOf(origin: string): string | null {
  const url = URL.parse(origin)
  return url === null || url.hostname === '' ? null : url.hostname.replace(/^\[|\]$/g, '')
}

function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '')
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name)
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(address)
}

const NOT_THIS_HOST = 'host not allowed: add it to `allowedHosts` of the backend, or give the route a hostname'
const NOT_THIS_ORIGIN = 'origin not allowed: add it to `allowedOrigins` of the backend, or to `cors` of the route'
