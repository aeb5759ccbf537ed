import { isGrpcContentType } from '../../fields/grpc.ts'
import type { HttpVersion } from './destination.ts'
import type { UpstreamRequest } from '../upstream-types.ts'

/** Chooses the HTTP version for a backend whose policies set none: the rules of the spec, in its order. */
export function chooseVersion(
  configured: HttpVersion | null,
  request: UpstreamRequest,
  client: { clientVersion: string; clientScheme: 'http' | 'https' },
): HttpVersion {
  // Every backend can upgrade over HTTP/1.1; an HTTP/2 backend is first checked for support of other protocols.
  if (request.upgrade !== '') return configured ?? 'HTTP1'
  if (configured !== null) return configured
  const plainHttp2 = client.clientScheme === 'http' && client.clientVersion === 'HTTP/2'
  if (plainHttp2) return 'HTTP2'
  const contentType = request.headers.get('content-type')
  return contentType !== null && isGrpcContentType(contentType) ? 'HTTP2' : 'HTTP1'
}
