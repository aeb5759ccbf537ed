import type { ViewedEndpoint, ViewedError } from '@portico/gateway/admin-config'
import { Link } from '@tanstack/react-router'
import { formatShare } from '../format/numbers.ts'
import { formatAgo, formatLeft, formatMoment } from '../format/times.ts'
import { Value } from './value.tsx'
import './health.css'

/** How an address or a provider does: nothing, where it always did as it should. */
export function EndpointHealth({ endpoint, now }: { endpoint: ViewedEndpoint; now: number }) {
  const { state, evictedUntil, evictions, failures, health, lastFailure } = endpoint
  return (
    <span className={`health-${state}`}>
      {state === 'evicted' &&
        `✕ evicted${evictions > 1 ? ` ${evictions} times in a row` : ''}${evictedUntil === null ? '' : `, ${formatLeft(evictedUntil, now)}`}`}
      {state === 'failing' && `▲ failing: ${failures} in a row, health ${formatShare(health)}`}
      {lastFailure !== null && (
        <span className="dim" title={formatMoment(lastFailure.at)}>
          {state === 'healthy' ? 'failed last' : ' ·'} {lastFailure.cause}, {formatAgo(lastFailure.at, now)}
        </span>
      )}
    </span>
  )
}

/** What went wrong last at an MCP target, with the request. */
export function TargetError({ error, now }: { error: ViewedError; now: number }) {
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
