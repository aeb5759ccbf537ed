import type { RequestContext } from '../context/request-context.ts'

/**
 * A rehearsal of a backend: a share of its calls is delayed, or answered with an error, on purpose and for a limited
 * time.
 */
export interface BackendRehearsal {
  readonly id: string
  /** The delay of a call, in milliseconds; null when calls are not delayed. */
  readonly percentage: number
  /** In milliseconds; null when calls are not delayed. */
  readonly delayMs: number | null
  /** The status of the error; null when calls are only delayed. */
  readonly status: number | null
  /**
   * The end of the rehearsal, in milliseconds since 1970. Later calls are not affected, even if nothing ended the
   * rehearsal.
   */
  readonly endsAt: number
}

/**
 * Adds a delay or an abort by a rehearsal, such as `delay 200ms` or `abort 503`, to the record and the log line of a
 * request.
 */
export function noteRehearsal(rx: RequestContext, what: string): void {
  const noted = rx.rehearsal ?? []
  // Each retry of a request may be delayed or aborted again, so the number of notes is limited.
  if (noted.length < MOST) rx.rehearsal = [...noted, what]
}

const MOST = 32
