import type { RequestContext } from '../context/request-context.ts'

/** Notes what was done to a request on purpose, for its record and its log line: `delay 200ms`, `abort 503`. */
export function noteRehearsal(rx: RequestContext, what: string): void {
  const noted = rx.rehearsal ?? []
  // A request with many retries is rehearsed many times.
  if (noted.length < MOST) rx.rehearsal = [...noted, what]
}

const MOST = 32
