import type { HistoryRange, SeriesView } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { seriesQuery, usageQuery } from '../api/queries.ts'
import { formatMoment } from '../format/times.ts'
import { Failed, Loading, Stale } from '../parts/states.tsx'
import { Chart } from './chart.tsx'
import { figuresOf } from './figures.ts'
import { RANGE_MILLIS, RANGE_NAMES, RANGES } from './search.ts'
import type { UsageGroup } from './usage-lines.ts'
import { UsageTable } from './usage-table.tsx'
import './metrics.css'

const page = getRouteApi('/metrics')

/** Charts of the last minutes or hours, and the usage of models. */
export function MetricsPage() {
  const { range = '15m', by = null } = page.useSearch()
  return (
    <div className="metrics">
      <header>
        <h1>Metrics</h1>
        <nav aria-label="Time range">
          {RANGES.map((each) => (
            <Link
              key={each}
              to="/metrics"
              search={({ range: _range, ...rest }) => (each === '15m' ? rest : { ...rest, range: each })}
              activeOptions={{ exact: true }}
              aria-current={each === range ? 'page' : undefined}
            >
              {RANGE_NAMES[each]}
            </Link>
          ))}
        </nav>
      </header>
      <Charts range={range} />
      <Usage range={range} by={by} />
    </div>
  )
}

function Charts({ range }: { range: HistoryRange }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(seriesQuery(range))
  if (data === undefined) {
    if (error !== null) return <Failed what="Metrics" error={error} onRetry={() => void refetch()} />
    return <Loading what="metrics" />
  }
  return (
    <>
      {error !== null && <Stale at={dataUpdatedAt} error={error} />}
      <ChartGrid view={data} />
    </>
  )
}

function ChartGrid({ view }: { view: SeriesView }) {
  const { range, now, since, times, seconds, total } = view
  // The charts of a young gateway begin with its start.
  const from = Math.max(now - RANGE_MILLIS[range], Math.min(since, now - 60_000))
  if (times.length === 0) return <p className="dim">The first data arrives a few seconds after the start.</p>
  const hasTraffic = total.requests.some((count) => count > 0)
  return (
    <>
      {since > now - RANGE_MILLIS[range] && <p className="dim">Data since {formatMoment(since).slice(0, -4)}.</p>}
      {!hasTraffic && <p className="metrics-none">No requests in the last {RANGE_NAMES[range]}.</p>}
      {hasTraffic && (
        <div className="charts">
          {figuresOf(view).map((figure) => (
            <Chart key={figure.title} figure={figure} scale={{ from, to: now, times, seconds }} />
          ))}
        </div>
      )}
    </>
  )
}

function Usage({ range, by }: { range: HistoryRange; by: UsageGroup | null }) {
  const { data, error, refetch, dataUpdatedAt } = useQuery(usageQuery(range))
  if (data === undefined) {
    if (error !== null) return <Failed what="Usage" error={error} onRetry={() => void refetch()} />
    return <Loading what="usage" rows={3} />
  }
  return (
    <>
      {error !== null && <Stale at={dataUpdatedAt} error={error} />}
      <UsageTable usage={data} by={by} />
    </>
  )
}
