import type { HeaderBlock } from '@portico/http'

/** How much of a body an expression must have: `whole` fails on one that is too large. */
export type BodyUse = 'none' | 'prefix' | 'whole'

/** The most that any of them needs. */
export function widest(uses: readonly (BodyUse | undefined)[]): BodyUse {
  return uses.includes('whole') ? 'whole' : uses.includes('prefix') ? 'prefix' : 'none'
}

/** What has been read of a body before it goes on. */
export interface BufferedBody {
  readonly prefix: Buffer
  /** Null when there is more than may be kept. */
  readonly whole: Buffer | null
  readonly trailers: HeaderBlock | null
}

export function wholeBody(bytes: Buffer, trailers: HeaderBlock | null = null): BufferedBody {
  return { prefix: bytes, whole: bytes, trailers }
}
