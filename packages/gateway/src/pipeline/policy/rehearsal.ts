import type { RequestContext } from '../context/request-context.ts'

/** A share of the calls to a backend is delayed, or answered with an error, on purpose and for a limited time. */
export interface BackendRehearsal {
  readonly id: string
  /** The share of the calls, in percent. */
  readonly percentage: number
  /** In milliseconds; null when calls are not delayed. */
  readonly delayMs: number | null
  /** The status of the error; null when calls are only delayed. */
  readonly status: number | null
  /** Calls after this time, in milliseconds since 1970, are left alone, whether or not the rehearsal was ended. */
  readonly endsAt: number
}

/** Notes what was done to a request on purpose, for its record and its log line: `delay 200ms`, `abort 503`. */
export function noteRehearsal(rx: RequestContext, what: string): void {
  const noted = rx.rehearsal ?? []
  // A request with many retries is rehearsed many times.
  if (noted.length < MOST) rx.rehearsal = [...noted, what]
}

const MOST = 32
