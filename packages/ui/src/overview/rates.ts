import type { RequestSummary } from '@portico/gateway/admin-api'

/** The traffic of the requests that a filter matches. */
export interface Rate {
  readonly count: number
  readonly perSecond: number
  /** The share of requests that failed or were denied, from 0 to 1. */
  readonly badShare: number
  /** Microseconds. */
  readonly p95: number
}

export interface Rates {
  /** The number of requests, and the seconds they cover. */
  readonly count: number
  readonly seconds: number
  of(filter: TrafficFilter): Rate | null
}

interface TrafficFilter {
  readonly listener?: string
  readonly route?: string
  /** Any of these, in place of `route`. */
  readonly routes?: ReadonlySet<string>
  readonly backend?: string
}

/** Rates over `windowMs`. A full list of `most` requests covers less time; then the rates are over that time. */
export function ratesOf(requests: readonly RequestSummary[], now: number, most: number, windowMs: number): Rates {
  const oldest = requests.reduce((least, { at }) => Math.min(least, at), now)
  const seconds = Math.max(requests.length < most ? windowMs : now - oldest, 1000) / 1000
  const byRoute = Map.groupBy(requests, ({ route }) => route)
  return {
    count: requests.length,
    seconds,
    of(filter) {
      const among = filter.route === undefined ? requests : (byRoute.get(filter.route) ?? [])
      const own = among.filter((request) => matches(request, filter))
      if (own.length === 0) return null
      const took = own.map((request) => request.took).toSorted((a, b) => a - b)
      return {
        count: own.length,
        perSecond: own.length / seconds,
        badShare: own.filter(({ outcome }) => BAD.has(outcome)).length / own.length,
        p95: took[Math.min(took.length - 1, Math.floor(took.length * 0.95))] ?? 0,
      }
    },
  }
}

const BAD: ReadonlySet<string> = new Set(['denied', 'limited', 'failed', 'evicted'])

function matches(request: RequestSummary, { listener, routes, backend }: TrafficFilter): boolean {
  if (listener !== undefined && request.listener !== listener) return false
  if (routes !== undefined && (request.route === null || !routes.has(request.route))) return false
  return backend === undefined || request.backend === backend
}

interface Reason {
  readonly name: string
  readonly count: number
  readonly last: RequestSummary
}

/** Why requests did not pass, the most frequent first. `requests` are newest first. */
export function reasonsOf(requests: readonly RequestSummary[]): Reason[] {
  const byName = Map.groupBy(requests, ({ reason, outcome }) =>
    reason === null ? outcome : (reason.policy ?? reason.kind),
  )
  return [...byName]
    .map(([name, own]) => ({ name, count: own.length, last: own[0]! }))
    .toSorted((a, b) => b.count - a.count)
}
