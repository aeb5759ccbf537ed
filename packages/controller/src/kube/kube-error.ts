/** A failed request to the API server. The message names the request, and never contains its body. */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  /** The status of the response; 0 when there was none. */
  readonly status: number
  /** The reason of the API server, such as `AlreadyExists`. */
  readonly reason: string
  readonly retryAfterMs: number | undefined

  constructor(asked: string, { status = 0, reason = '', message = '', retryAfterMs, cause }: Answer) {
    super(`${asked}: ${[status || '', message].filter(Boolean).join(' ')}`, { cause })
    this.status = status
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

interface Answer {
  status?: number
  reason?: string
  message?: string
  retryAfterMs?: number
  cause?: unknown
}

export function isStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof KubeError && statuses.includes(error.status)
}

/** Parses a `Retry-After` header, seconds or a date, to milliseconds from now, at most `MOST_MS`. */
export function retryAfterMs(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MOST_MS)
}

/** The longest wait; a starting API server is ready much sooner. */
const MOST_MS = 5_000
