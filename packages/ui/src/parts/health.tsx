import type { ViewedEndpoint, ViewedError } from '@portico/gateway/admin-config'
import { Link } from '@tanstack/react-router'
import { formatShare } from '../format/numbers.ts'
import { formatAgo, formatLeft, formatMoment } from '../format/times.ts'
import { causeWords } from './cause-words.ts'
import { Value } from './value.tsx'
import './health.css'

/** The health of an endpoint or a provider. Shows nothing for one that is healthy and never failed. */
export function EndpointHealth({ endpoint, now }: { endpoint: ViewedEndpoint; now: number }) {
  const { state, evictedUntil, evictions, failures, health, lastFailure } = endpoint
  return (
    <span className={`health-${state}`}>
      {state === 'evicted' &&
        `✕ evicted${evictions > 1 ? ` ${evictions} times in a row` : ''}${evictedUntil === null ? '' : `, ${formatLeft(evictedUntil, now)}`}`}
      {state === 'failing' && `▲ failing: ${failures} in a row, health ${formatShare(health)}`}
      {lastFailure !== null && (
        <span className="dim" title={formatMoment(lastFailure.at)}>
          {state === 'healthy' ? 'last failure:' : ' ·'} {causeWords(lastFailure.cause)},{' '}
          {formatAgo(lastFailure.at, now)}
        </span>
      )}
    </span>
  )
}

/** The last error of an MCP server, with a link to its request. */
export function TargetError({ error, now }: { error: ViewedError; now: number }) {
  return (
    <span>
      <Link to="/requests" search={{ id: error.request }}>
        {causeWords(error.outcome)}
      </Link>{' '}
      <Value text={error.message} most={60} />
      <span className="dim" title={formatMoment(error.at)}>
        {' '}
        · {formatAgo(error.at, now)}
      </span>
    </span>
  )
}
