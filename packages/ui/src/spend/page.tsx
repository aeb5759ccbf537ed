import type { UsageGroup, UsageReport } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { stateQuery } from '../api/queries.ts'
import { formatCount } from '../format/numbers.ts'
import { Failed, Loading, Stale } from '../parts/states.tsx'
import { ForecastPart } from './forecast-part.tsx'
import { spendingText } from './money.ts'
import { NoLedger } from './no-ledger.tsx'
import { spendQuery } from './queries.ts'
import {
  DEFAULTS,
  groupsIn,
  MEASURES,
  type Measure,
  SPEND_GROUPS,
  SPEND_RANGES,
  type SpendGroup,
  type SpendRange,
  readSpendSearch,
  toggleGroup,
} from './search.ts'
import { SpendChart } from './spend-chart.tsx'
import { SpendTable } from './spend-table.tsx'
import { bucketsOf, sinceOf, spendingOf, tokensOf, unitOf } from './time-buckets.ts'
import './spend.css'

const page = getRouteApi('/spend')

/** Costs, tokens and calls of the ledger. */
export function SpendPage() {
  const { last: range = DEFAULTS.last } = page.useSearch()
  // The range moves with the clock only when the page is opened or the range is chosen.
  const [opened] = useState(Date.now)
  const since = sinceOf(range, opened)
  const state = useQuery(stateQuery)
  const sums = useQuery({ ...spendQuery([], since), enabled: (state.data?.ledgerStore ?? null) !== null })
  if (state.data?.ledgerStore === null) return <NoLedger />
  return (
    <div className="spend">
      <header>
        <h1>Spend</h1>
        <nav aria-label="Time range">
          {namesOf(SPEND_RANGES).map((each) => (
            <Link
              key={each}
              to="/spend"
              search={(before) => readSpendSearch({ ...before, last: each })}
              activeOptions={{ exact: true }}
              aria-current={each === range ? 'page' : undefined}
            >
              {SPEND_RANGES[each]}
            </Link>
          ))}
        </nav>
      </header>
      {sums.data === undefined ? (
        <Waiting error={sums.error ?? state.error} onRetry={() => void sums.refetch()} />
      ) : (
        <>
          {sums.error !== null && <Stale at={sums.dataUpdatedAt} error={sums.error} />}
          <Sums report={sums.data} since={since} range={range} />
        </>
      )}
    </div>
  )
}

function Waiting({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  if (error === null) return <Loading what="spend" />
  return <Failed what="The ledger" error={error} onRetry={onRetry} />
}

function Sums({ report, since, range }: { report: UsageReport; since: number; range: SpendRange }) {
  const { show = DEFAULTS.show, period = DEFAULTS.period } = page.useSearch()
  const unit = unitOf(range)
  const total = report.groups[0]
  const times = useQuery(spendQuery([unit], since))
  if (total === undefined) {
    return <p className="spend-none">No model was called in the last {SPEND_RANGES[range]}.</p>
  }
  return (
    <>
      <div className="spend-top">
        <Figures total={total} range={range} />
        <ForecastPart period={period} now={report.until - 1} />
      </div>
      <section className="spend-panel" aria-label="Over time">
        <header>
          <h2>Over time</h2>
          <nav aria-label="Bars">
            {namesOf(MEASURES).map((each: Measure) => (
              <Link
                key={each}
                to="/spend"
                search={(before) => readSpendSearch({ ...before, show: each })}
                resetScroll={false}
                activeOptions={{ exact: true }}
                aria-current={each === show ? 'true' : undefined}
              >
                {MEASURES[each]}
              </Link>
            ))}
          </nav>
        </header>
        {times.data === undefined ? (
          <Waiting error={times.error} onRetry={() => void times.refetch()} />
        ) : (
          <SpendChart buckets={bucketsOf(times.data.groups, unit, since, report.until)} unit={unit} show={show} />
        )}
      </section>
      <Groups since={since} total={total} />
    </>
  )
}

function Figures({ total, range }: { total: UsageGroup; range: SpendRange }) {
  const { calls, unpricedCalls, estimatedCalls } = total
  return (
    <section className="spend-panel" aria-label={`Last ${SPEND_RANGES[range]}`}>
      <h2>Last {SPEND_RANGES[range]}</h2>
      <p className="spend-figure">{spendingText(spendingOf(total))}</p>
      <p className="dim">
        {formatCount(calls)} calls, {formatCount(tokensOf(total))} tokens
        {estimatedCalls > 0 && `; costs that are estimated are included: ${formatCount(estimatedCalls)} calls`}
      </p>
      {unpricedCalls > 0 && (
        <p className="spend-warning">
          ▲ Calls of unknown cost are not included: {formatCount(unpricedCalls)} of {formatCount(calls)}. Add their
          models to the <code>prices</code> policy.
        </p>
      )}
    </section>
  )
}

function Groups({ since, total }: { since: number; total: UsageGroup }) {
  const { per = DEFAULTS.per } = page.useSearch()
  const groups = groupsIn(per)
  const { data, error, refetch, dataUpdatedAt } = useQuery(spendQuery(groups, since))
  return (
    <section className="spend-panel" aria-label="By group">
      <header>
        <h2>By {groups.map((name) => SPEND_GROUPS[name].toLowerCase()).join(' and ')}</h2>
        <nav aria-label="Group by">
          {namesOf(SPEND_GROUPS).map((each: SpendGroup) => (
            <Link
              key={each}
              to="/spend"
              search={(before) => readSpendSearch({ ...before, per: toggleGroup(groups, each).join() })}
              resetScroll={false}
              activeOptions={{ exact: true }}
              aria-current={groups.includes(each) ? 'true' : undefined}
            >
              {SPEND_GROUPS[each]}
            </Link>
          ))}
        </nav>
      </header>
      {data === undefined ? (
        <Waiting error={error} onRetry={() => void refetch()} />
      ) : (
        <>
          {error !== null && <Stale at={dataUpdatedAt} error={error} />}
          <SpendTable key={data.by.join()} report={data} total={total} />
        </>
      )}
    </section>
  )
}

function namesOf<Names extends object>(names: Names): (keyof Names & string)[] {
  return Object.keys(names) as (keyof Names & string)[]
}
