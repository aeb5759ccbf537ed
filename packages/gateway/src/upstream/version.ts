import { isGrpcContentType } from '../net/grpc.ts'
import type { HttpVersion } from './destination.ts'
import type { UpstreamRequest } from './upstream-types.ts'

/** Which HTTP version a backend gets when its policies do not say: the spec's rules, in its order. */
export function chooseVersion(
  configured: HttpVersion | null,
  request: UpstreamRequest,
  client: { clientVersion: string; clientScheme: 'http' | 'https' },
): HttpVersion {
  // Every backend upgrades HTTP/1.1; one of HTTP/2 is asked first whether it takes other protocols.
  if (request.upgrade !== '') return configured ?? 'HTTP1'
  if (configured !== null) return configured
  const plainHttp2 = client.clientScheme === 'http' && client.clientVersion === 'HTTP/2'
  if (plainHttp2) return 'HTTP2'
  const contentType = request.headers.get('content-type')
  return contentType !== null && isGrpcContentType(contentType) ? 'HTTP2' : 'HTTP1'
}
