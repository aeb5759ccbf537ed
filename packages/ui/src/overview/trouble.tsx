import type { BackendsView } from '@portico/gateway/admin-config'
import { Link } from '@tanstack/react-router'
import { EndpointHealth, TargetError } from '../parts/health.tsx'
import { backendFilter } from '../requests/filter.ts'
import { findTroubles } from './backend-troubles.ts'

/** Backends that are evicted or fail, and their fallbacks. Shows nothing when all are healthy. */
export function Trouble({ view, now }: { view: BackendsView; now: number }) {
  const troubled = findTroubles(view)
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
            {endpoint !== null && (
              <span>
                <span className="mono">{endpoint.name}</span> <EndpointHealth endpoint={endpoint} now={now} />
              </span>
            )}
            {error !== null && <TargetError error={error} now={now} />}
            {note !== '' && <span className="dim">{note}</span>}
          </li>
        ))}
      </ul>
      {view.unheard > 0 && (
        <p className="note">
          {view.unheard === 1 ? '1 worker' : `${view.unheard} workers`} did not report the health of backends.
        </p>
      )}
    </aside>
  )
}
