import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatCount } from '../format/numbers.ts'
import { type Forecast, forecastOf, forecastSince } from './forecast.ts'
import { formatNanoDollars } from './money.ts'
import { spendQuery } from './queries.ts'
import { PERIODS, type Period, readSpendSearch } from './search.ts'
import { bucketsOf, DAY, printTime } from './time-buckets.ts'

/** The expected cost at the end of a period, and how the number is made. */
export function ForecastPart({ period, now }: { period: Period; now: number }) {
  const since = forecastSince(now)
  const { data } = useQuery(spendQuery(['hour'], since))
  return (
    <section className="spend-forecast" aria-label="Forecast">
      <header>
        <h2>Forecast</h2>
        <nav aria-label="Period of the forecast">
          {Object.keys(PERIODS).map((each) => (
            <Link
              key={each}
              to="/spend"
              search={(before) => readSpendSearch({ ...before, period: each })}
              resetScroll={false}
              activeOptions={{ exact: true }}
              aria-current={each === period ? 'true' : undefined}
            >
              This {each}
            </Link>
          ))}
        </nav>
      </header>
      {data !== undefined && (
        <ForecastText forecast={forecastOf(bucketsOf(data.groups, 'hour', since, now + 1), period, now)} now={now} />
      )}
    </section>
  )
}

function ForecastText({ forecast, now }: { forecast: Forecast; now: number }) {
  const { start, end, spent, unpricedCalls, rate, expected } = forecast
  const unpriced = unpricedCalls + (rate?.unpricedCalls ?? 0)
  const sign = unpriced > 0 ? '≥ ' : '≈ '
  const days = (millis: number): string => `${(millis / DAY).toFixed(1)} days`
  return (
    <>
      <p className="spend-figure">{expected === null ? 'No forecast yet' : `${sign}${formatNanoDollars(expected)}`}</p>
      <p className="dim">
        {formatNanoDollars(spent)} since {printTime(start, 'day')} (UTC)
        {rate === null
          ? '. A forecast needs calls over a day or more.'
          : `, and ${days(end - now)} to go at ${formatNanoDollars((rate.nanoDollars * BigInt(DAY)) / BigInt(rate.millis))} a day, the average of the last ${days(rate.millis)}.`}
      </p>
      {unpriced > 0 && (
        <p className="spend-warning">
          ▲ Calls of unknown cost are not included: {formatCount(unpricedCalls)} of this period,{' '}
          {formatCount(rate?.unpricedCalls ?? 0)} of the average.
        </p>
      )}
    </>
  )
}
