import type { BackendsView, ViewedEndpoint, ViewedError } from '@portico/gateway/admin-config'
import { Link } from '@tanstack/react-router'
import { formatShare } from '../format/numbers.ts'
import { formatAgo, formatLeft, formatMoment } from '../format/times.ts'
import { backendFilter } from '../requests/filter.ts'
import { Value } from '../parts/value.tsx'
import { troubleOf } from './trouble-of.ts'

/** What is left out, what fails, and who takes its place. Nothing, where all is well. */
export function Trouble({ view, now }: { view: BackendsView; now: number }) {
  const troubled = troubleOf(view)
  if (troubled.length === 0 && view.unheard === 0) return null
  return (
    <aside aria-label="Backends in trouble">
      <h2>Backends in trouble</h2>
      <ul className="trouble">
        {troubled.map(({ backend, part, endpoint, error, note }) => (
          <li key={`${backend} ${part} ${endpoint?.name ?? ''}`}>
            <Link to="/requests" search={{ q: backendFilter(backend) }}>
              <span className="mono">{part === '' ? backend : `${backend} ▸ ${part}`}</span>
            </Link>
            {endpoint !== null && <Endpoint endpoint={endpoint} now={now} />}
            {error !== null && <TargetError error={error} now={now} />}
            {note !== '' && <span className="dim">{note}</span>}
          </li>
        ))}
      </ul>
      {view.unheard > 0 && <p className="note">{view.unheard} workers were too busy to say how theirs do.</p>}
    </aside>
  )
}

function Endpoint({ endpoint, now }: { endpoint: ViewedEndpoint; now: number }) {
  const { name, state, evictedUntil, evictions, failures, health, lastFailure } = endpoint
  return (
    <span className={`trouble-${state}`}>
      <span className="mono">{name}</span>{' '}
      {evictedUntil === null
        ? `▲ failing: ${failures} in a row, health ${formatShare(health)}`
        : `✕ evicted${evictions > 1 ? ` ${evictions} times in a row` : ''}, ${formatLeft(evictedUntil, now)}`}
      {lastFailure !== null && (
        <span className="dim" title={formatMoment(lastFailure.at)}>
          {' '}
          · {lastFailure.cause}, {formatAgo(lastFailure.at, now)}
        </span>
      )}
    </span>
  )
}

function TargetError({ error, now }: { error: ViewedError; now: number }) {
  return (
    <span>
      <Link to="/requests" search={{ id: error.request }}>
        {error.outcome}
      </Link>{' '}
      <Value text={error.message} most={60} />
      <span className="dim" title={formatMoment(error.at)}>
        {' '}
        · {formatAgo(error.at, now)}
      </span>
    </span>
  )
}
