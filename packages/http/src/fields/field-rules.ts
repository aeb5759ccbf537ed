/** Returns whether a field (name in lower case) names the client's address, host or scheme. */
export function isForwardingHeader(name: string): boolean {
  const first = name.charCodeAt(0)
  return first === X ? claimsForwarding.test(name) : first === F && name === 'forwarded'
}

const F = 102
const X = 120

/** `x-forwarded-*`, `x-real-ip` and their spellings with `_` or `.`, which backends treat as the same name. */
export const claimsForwarding = /^x[-_.](forwarded|real[-_.]ip$)/i

/**
 * Returns whether a field (name in lower case) may be sent as a trailer. Framing, routing, credentials and statements
 * about the client must not arrive late (RFC 9110 section 6.5.1), because policies have already been applied to the
 * request.
 */
export function mayBeTrailer(name: string): boolean {
  return !NEVER_LATE.has(name) && !isForwardingHeader(name)
}

const NEVER_LATE = new Set([
  'authorization',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'max-forwards',
  'proxy-authenticate',
  'proxy-authorization',
  'set-cookie',
])

/** Returns whether a field (name in lower case) is hop-by-hop or routes a message: only the connection may set it. */
export function isConnectionField(name: string): boolean {
  return CONNECTION_FIELDS.has(name)
}

const CONNECTION_FIELDS = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Converts a header value from a config to wire format: UTF-8 bytes, one character code per byte. ASCII stays
 * unchanged.
 */
export function fieldText(value: string): string {
  return /^[\x20-\x7e\t]*$/.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1')
}

/** Returns whether the content type is gRPC, which needs HTTP/2 and reports errors in `grpc-status`. */
export function isGrpcContentType(contentType: string): boolean {
  return /^application\/grpc(\+|;|$)/i.test(contentType)
}
