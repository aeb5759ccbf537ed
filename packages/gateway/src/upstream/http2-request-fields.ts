import { appendFields } from '../net/http2/fields.ts'
import { HOPS_HEADER } from '../net/hops.ts'
import { KEY_HEADER } from '../net/websocket-handshake.ts'
import type { UpstreamRequest } from './upstream-types.ts'

/** Returns the fields of a request as the runtime takes them: names and values in turn. */
export function requestFields(request: UpstreamRequest, scheme: string): string[] {
  const { method, authority, target, headers, body, teTrailers, trail } = request
  if (body.length === -1) headers.remove('content-length')
  const raw = [':method', method, ':scheme', scheme, ':authority', authority, ':path', target]
  appendFields(raw, headers)
  if (teTrailers) raw.push('te', 'trailers')
  if (trail !== undefined) raw.push(HOPS_HEADER, trail.value)
  if (body.length > 0 && !headers.has('content-length')) raw.push('content-length', String(body.length))
  return raw
}

/** Returns the fields of a request for another protocol inside the stream (RFC 8441). */
export function tunnelFields(
  { authority, target, headers, upgrade, trail }: UpstreamRequest,
  scheme: string,
): string[] {
  const pseudo = [':method', 'CONNECT', ':protocol', upgrade, ':scheme', scheme]
  const raw = [...pseudo, ':authority', authority, ':path', target]
  const kept = headers.clone()
  // HTTP/2 needs no handshake key: `:protocol` itself negotiates WebSocket.
  kept.remove(KEY_HEADER)
  kept.remove('content-length')
  appendFields(raw, kept)
  if (trail !== undefined) raw.push(HOPS_HEADER, trail.value)
  return raw
}
