import type { HeaderBlock } from '@portico/http'

/** The part of a body that an expression needs; `whole` fails on a body that is too large. */
export type BodyUse = 'none' | 'prefix' | 'whole'

/** Returns the largest of these needs. */
export function widest(uses: readonly (BodyUse | undefined)[]): BodyUse {
  return uses.includes('whole') ? 'whole' : uses.includes('prefix') ? 'prefix' : 'none'
}

/** The part of a body that was read before the request or response continues. */
export interface BufferedBody {
  readonly prefix: Buffer
  /** Null when there is more than may be kept. */
  readonly whole: Buffer | null
  readonly trailers: HeaderBlock | null
}

export function wholeBody(bytes: Buffer, trailers: HeaderBlock | null = null): BufferedBody {
  return { prefix: bytes, whole: bytes, trailers }
}
