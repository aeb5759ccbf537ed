import type { HeaderBlock } from '../../fields/header-block.ts'

/** The gRPC status codes that the gateway itself uses. */
const OK = 0
export const CANCELLED = 1
export const UNKNOWN = 2
export const DEADLINE_EXCEEDED = 4
const PERMISSION_DENIED = 7
export const RESOURCE_EXHAUSTED = 8
export const UNIMPLEMENTED = 12
export const INTERNAL = 13
export const UNAVAILABLE = 14
const UNAUTHENTICATED = 16

/** A failed call: the server's status, or an error on the way to the server. */
export class GrpcError extends Error {
  readonly code: number
  /** `grpc-status-details-bin` as received; null when absent. */
  readonly details: string | null

  constructor(code: number, message: string, details: string | null = null) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** Returns the error in the last fields of a call; null for OK. */
export function statusOf(fields: HeaderBlock): GrpcError | null {
  const text = fields.get('grpc-status')
  if (text === null) return new GrpcError(UNKNOWN, 'the call ended without a status')
  if (!/^\d{1,9}$/.test(text)) return new GrpcError(UNKNOWN, 'the status of the call is no number')
  const code = Number(text)
  if (code === OK) return null
  return new GrpcError(code, decodeMessage(fields.get('grpc-message') ?? ''), fields.get('grpc-status-details-bin'))
}

/** Maps an HTTP response that is not gRPC, such as one of an intermediate proxy. */
export function statusOfHttp(status: number): GrpcError {
  return new GrpcError(CODE_BY_HTTP_STATUS.get(status) ?? UNKNOWN, `the answer is not gRPC (status ${status})`)
}

const CODE_BY_HTTP_STATUS = new Map([
  [400, INTERNAL],
  [401, UNAUTHENTICATED],
  [403, PERMISSION_DENIED],
  [404, UNIMPLEMENTED],
  [429, UNAVAILABLE],
  [502, UNAVAILABLE],
  [503, UNAVAILABLE],
  [504, UNAVAILABLE],
])

/**
 * Decodes percent-encoded UTF-8. Malformed escapes stay as they are, because a status must not be lost over its text.
 */
function decodeMessage(text: string): string {
  if (!text.includes('%')) return text
  const bytes: number[] = []
  for (let at = 0; at < text.length; at++) {
    const hex = text.slice(at + 1, at + 3)
    if (text[at] === '%' && /^[0-9a-f]{2}$/i.test(hex)) {
      bytes.push(parseInt(hex, 16))
      at += 2
    } else bytes.push(text.charCodeAt(at) & 0xff)
  }
  return Buffer.from(bytes).toString('utf8')
}

/**
 * Returns the status of a gRPC call whose stream was reset with this HTTP/2 error code; null stands for a lost
 * connection.
 */
export function grpcStatusOfReset(code: number | null): number {
  return code === null ? UNAVAILABLE : (STATUS_OF_RESET.get(code) ?? INTERNAL)
}

/** The HTTP/2 error codes that do not map to INTERNAL, from the table in the gRPC protocol. */
const STATUS_OF_RESET: ReadonlyMap<number, number> = new Map([
  // REFUSED_STREAM
  [7, UNAVAILABLE],
  // CANCEL
  [8, CANCELLED],
  // ENHANCE_YOUR_CALM
  [11, RESOURCE_EXHAUSTED],
  // INADEQUATE_SECURITY
  [12, PERMISSION_DENIED],
])
