import { isConnectionField, mayBeTrailer } from '../field-rules.ts'
import { isGrpcContentType } from '../grpc.ts'
import type { HeaderBlock } from '../header-block.ts'

/** What of a trailer section is passed on. */
export function isTrailer(name: string): boolean {
  return mayBeTrailer(name) && !isConnectionField(name)
}

export function isGrpc(headers: HeaderBlock): boolean {
  const type = headers.get('content-type')
  return type !== null && isGrpcContentType(type)
}

/** Frames of a large body come several at a time: all that one read has brought leaves in one write. */
export const LARGE_CHUNK = 8192
