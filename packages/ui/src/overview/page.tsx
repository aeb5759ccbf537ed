import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { backendsQuery, recentQuery, refusalsQuery, routesQuery } from '../api/queries.ts'
import { formatCount, formatRate, formatTook } from '../format/numbers.ts'
import { formatAgo } from '../format/times.ts'
import { Outcome } from '../parts/outcome.tsx'
import { Failed, Loading } from '../parts/states.tsx'
import { printFilter } from '../requests/filter.ts'
import { decisionText } from '../explanation/decision-text.ts'
import './overview.css'
import { Trouble } from './trouble.tsx'
import { ratesOf, reasonsOf } from './rates.ts'
import { RoutesPart } from './routes-part.tsx'
import { Copy } from '../parts/copy.tsx'
import { FIRST_CONFIGS } from './first-configs.ts'

/** The overview: routes with their traffic, backends that fail, and the latest denied or failed requests. */
export function OverviewPage() {
  const routes = useQuery(routesQuery)
  const backends = useQuery(backendsQuery)
  const recent = useQuery(recentQuery)
  const failed = [routes, backends, recent].find(({ error, data }) => error !== null && data === undefined)
  if (failed?.error != null)
    return <Failed what="The overview" error={failed.error} onRetry={() => void failed.refetch()} />
  if (routes.data === undefined || backends.data === undefined || recent.data === undefined)
    return <Loading what="the overview" />
  const isEmpty = routes.data.binds.every(({ listeners }) =>
    listeners.every((listener) => listener.routes.length === 0),
  )
  if (isEmpty) return <FirstSteps />
  const rates = ratesOf(recent.data.requests, recent.dataUpdatedAt, 1000, 60_000)
  const total = rates.of({})
  return (
    <div className="overview">
      <section className="map" aria-label="Map of listeners, routes and backends">
        <h1>Overview</h1>
        <p className="dim">
          {total === null
            ? 'No requests in the last minute.'
            : `${formatRate(total.perSecond)} · p95 ${formatTook(total.p95)}, of ${rates.count === 1 ? '1 request' : `${formatCount(rates.count)} requests`} in ${Math.round(rates.seconds)} s`}
        </p>
        <RoutesPart routes={routes.data} backends={backends.data} rates={rates} now={backends.dataUpdatedAt} />
      </section>
      <div className="beside">
        <Trouble view={backends.data} now={backends.dataUpdatedAt} />
        <Refusals />
      </div>
    </div>
  )
}

function Refusals() {
  const { data, dataUpdatedAt } = useQuery(refusalsQuery)
  if (data === undefined) return <aside aria-label="Denied and failed requests" />
  const reasons = reasonsOf(data.requests)
  return (
    <aside aria-label="Denied and failed requests">
      <h2>Denied and failed, by reason</h2>
      {reasons.length === 0 && <p className="dim">No denied or failed requests recorded.</p>}
      {reasons.length > 0 && <p className="dim">Counts of the newest {formatCount(data.requests.length)} requests.</p>}
      <ul className="reasons">
        {reasons.slice(0, 8).map(({ name, count, last }) => (
          <li key={name}>
            <Link
              to="/requests"
              search={{
                q: printFilter([
                  last.reason?.policy == null
                    ? { name: 'outcome', value: last.outcome }
                    : { name: 'policy', value: last.reason.policy },
                ]),
              }}
            >
              <span className="mono">{name}</span>
            </Link>
            <span className="number">{formatCount(count)}</span>
          </li>
        ))}
      </ul>
      {reasons.length > 0 && <h2>Latest ten</h2>}
      <ol className="last">
        {data.requests.slice(0, 10).map((request) => (
          <li key={request.id}>
            <Link to="/requests" search={{ id: request.id }}>
              <Outcome status={request.status} outcome={request.outcome} />{' '}
              <span className="mono">{request.path ?? request.protocol}</span>
            </Link>
            <span className="dim number">{formatAgo(request.at, dataUpdatedAt)}</span>
            <span className="dim last-why">{decisionText(request)}</span>
          </li>
        ))}
      </ol>
    </aside>
  )
}

/** The overview of a config without routes: three configs to begin with. */
function FirstSteps() {
  return (
    <section className="first-steps">
      <h1>This gateway has no routes yet</h1>
      <p className="dim">Put one of these into the config file; a change goes live within half a second.</p>
      <div className="cards">
        {FIRST_CONFIGS.map(({ title, about, text }) => (
          <article key={title}>
            <h2>
              {title} <Copy text={text} label={`Copy the config for ${title}`} />
            </h2>
            <p className="dim">{about}</p>
            <pre className="mono">{text}</pre>
          </article>
        ))}
      </div>
    </section>
  )
}
