import type { IncomingMessage } from 'node:http'
import { type HistoryRange, RANGES, type SeriesView, type UsageView } from '../telemetry/history/series-view.ts'
import { pathOf, queryOf, type Reply, text } from './http.ts'

/** Figures of the last hours, given by the main thread. */
export interface MetricsSource {
  series(range: HistoryRange): SeriesView
  usage(range: HistoryRange): UsageView
}

/** The endpoints, as the start page of the admin server lists them. */
export const METRICS_ROUTES: readonly { path: string; summary: string }[] = [
  { path: '/api/metrics/series', summary: 'rates, errors, latency and tokens over ?range=15m, 3h or 24h' },
  { path: '/api/metrics/usage', summary: 'tokens by model, key and route over ?range=' },
]

/** Null for a path that is none of them. */
export function answerMetricsApi(request: IncomingMessage, source: MetricsSource): Reply | null {
  const path = pathOf(request)
  if (!METRICS_ROUTES.some((route) => route.path === path)) return null
  const query = queryOf(request)
  for (const name of query.keys()) {
    if (name !== 'range') return text(400, `unknown parameter ${JSON.stringify(name)}, expected ?range=\n`)
  }
  const range = RANGES.find((each) => each === (query.get('range') ?? RANGES[0]))
  if (range === undefined) return text(400, `range: expected ${RANGES.join(', ')}\n`)
  const view = path === '/api/metrics/series' ? source.series(range) : source.usage(range)
  return { status: 200, type: 'application/json', body: `${JSON.stringify(view)}\n` }
}
