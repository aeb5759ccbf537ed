import { anyField, literalField, nameOf, valueOf } from '../../http2/hpack/encode.ts'
import { fieldsBlock } from '../../http2/sent-fields.ts'
import { HOPS_HEADER } from '../../fields/hops.ts'
import { KEY_HEADER } from '../../websocket/websocket-handshake.ts'
import type { UpstreamRequest } from '../upstream-types.ts'

/** Returns the head of a request as a block of fields. */
export function requestBlock(request: UpstreamRequest, scheme: 'http' | 'https'): string {
  const { method, authority, target, headers, body, teTrailers, trail } = request
  if (body.length === -1) headers.remove('content-length')
  let block = (METHODS.get(method) ?? literalField(':method', method)) + SCHEMES[scheme]
  block += AUTHORITY + valueOf(authority) + (target === '/' ? ROOT : PATH + valueOf(target)) + fieldsBlock(headers)
  if (teTrailers) block += TE_TRAILERS
  if (trail !== undefined) block += HOPS + valueOf(trail.value)
  if (body.length > 0 && !headers.has('content-length')) block += CONTENT_LENGTH + valueOf(String(body.length))
  return block
}

/** Returns the head of a request for another protocol inside the stream (RFC 8441). */
export function tunnelBlock(request: UpstreamRequest, scheme: 'http' | 'https'): string {
  const { authority, target, headers, upgrade, trail } = request
  const kept = headers.clone()
  // HTTP/2 needs no handshake key: `:protocol` itself negotiates WebSocket.
  kept.remove(KEY_HEADER)
  kept.remove('content-length')
  const pseudo = literalField(':method', 'CONNECT') + literalField(':protocol', upgrade) + SCHEMES[scheme]
  const block = pseudo + AUTHORITY + valueOf(authority) + PATH + valueOf(target) + fieldsBlock(kept)
  return trail === undefined ? block : block + HOPS + valueOf(trail.value)
}

/** Returns the head of a CONNECT, whose stream carries bytes to `target` (RFC 9113 section 8.5). */
export function connectBlock({ target, headers, trail }: UpstreamRequest): string {
  const block = literalField(':method', 'CONNECT') + AUTHORITY + valueOf(target) + fieldsBlock(headers)
  return trail === undefined ? block : block + HOPS + valueOf(trail.value)
}

const METHODS = new Map(
  ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'].map((method) => [method, anyField(':method', method)]),
)
const SCHEMES = { http: anyField(':scheme', 'http'), https: anyField(':scheme', 'https') }
const AUTHORITY = nameOf(':authority')
const PATH = nameOf(':path')
const ROOT = anyField(':path', '/')
const TE_TRAILERS = literalField('te', 'trailers')
const HOPS = nameOf(HOPS_HEADER)
const CONTENT_LENGTH = nameOf('content-length')
