import { isConnectionField, isGrpcContentType, mayBeTrailer } from '../fields/field-rules.ts'
import type { HeaderBlock } from '../fields/header-block.ts'

/** Returns whether a trailer of this name is forwarded. */
export function isTrailer(name: string): boolean {
  return mayBeTrailer(name) && !isConnectionField(name)
}

export function isGrpc(headers: HeaderBlock): boolean {
  const type = headers.get('content-type')
  return type !== null && isGrpcContentType(type)
}

/** Frames of a large body arrive several at a time: all frames of one read are forwarded in one write. */
export const LARGE_CHUNK = 8192
