import type { TargetFailure } from '../transports/transport.ts'

/** What comes of a call that somebody else makes for this worker; over with `isLast`, `closed` or `failed`. */
export type CallAnswer =
  | { kind: 'said'; call: number; text: string; isLast: boolean }
  | { kind: 'closed'; call: number }
  | { kind: 'failed'; call: number; failure: TargetFailure }
