import type { RequestSummary } from '@portico/gateway/admin-api'
import { duration } from './request-line.ts'

/** Requests of the last time window, by route. */
export class TopTable {
  readonly #windowMs: number
  readonly #now: () => number
  #requests: { readonly at: number; readonly request: RequestSummary }[] = []
  #omitted: { readonly at: number; readonly count: number }[] = []

  constructor(windowMs: number, now: () => number = Date.now) {
    this.#windowMs = windowMs
    this.#now = now
  }

  take(requests: readonly RequestSummary[], omitted: number): void {
    const at = this.#now()
    for (const request of requests) this.#requests.push({ at, request })
    // Under heavy load, the newest requests are enough.
    if (this.#requests.length > MOST_KEPT) this.#requests = this.#requests.slice(-MOST_KEPT)
    if (omitted > 0) this.#omitted.push({ at, count: omitted })
  }

  /** The heading and one line per route, the busiest first. */
  lines(): string[] {
    const from = this.#now() - this.#windowMs
    this.#requests = this.#requests.filter(({ at }) => at >= from)
    const byRoute = Map.groupBy(this.#requests, ({ request }) => request.route ?? '(no route)')
    const rows = [...byRoute]
      .toSorted(([, one], [, other]) => other.length - one.length)
      .map(([route, found]) =>
        this.#row(
          route,
          found.map(({ request }) => request),
        ),
      )
    this.#omitted = this.#omitted.filter(({ at }) => at >= from)
    const omitted = this.#omitted.reduce((sum, { count }) => sum + count, 0)
    const more = omitted === 0 ? [] : [`${omitted} requests are missing: the stream left them out`]
    return [row(['ROUTE', 'REQ/S', 'REFUSED', 'FAILED', 'P50', 'P95', 'MOSTLY REFUSED BY']), ...rows, ...more]
  }

  #row(route: string, requests: readonly RequestSummary[]): string {
    const took = requests.map((request) => request.took).toSorted((one, other) => one - other)
    const at = (share: number): string =>
      duration(took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0)
    const refused = requests.filter(({ outcome }) => outcome === 'denied' || outcome === 'limited')
    const failed = requests.filter(({ outcome }) => outcome === 'failed' || outcome === 'evicted')
    return row([
      route,
      (requests.length / (this.#windowMs / 1000)).toFixed(1),
      String(refused.length),
      String(failed.length),
      at(0.5),
      at(0.95),
      mostCommon(
        [...refused, ...failed].map(({ reason }) =>
          reason === null ? '' : `${reason.policy ?? reason.kind}: ${reason.code}`,
        ),
      ),
    ])
  }
}

function mostCommon(texts: readonly string[]): string {
  const counted = [
    ...Map.groupBy(
      texts.filter((text) => text !== ''),
      (text) => text,
    ),
  ]
  return counted.toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0] ?? ''
}

const WIDTHS = [32, 8, 8, 8, 9, 9]
const MOST_KEPT = 50_000

function row(cells: readonly string[]): string {
  const fitted = cells.map((cell, index) => {
    const width = WIDTHS[index] ?? 0
    if (width === 0) return cell
    const cut = cell.length > width ? `${cell.slice(0, width - 1)}…` : cell
    // Numbers are right-aligned.
    return index === 0 ? cut.padEnd(width) : cut.padStart(width)
  })
  return fitted.join('  ').trimEnd()
}
