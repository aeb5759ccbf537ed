import { useQuery } from '@tanstack/react-query'
import type { GatewayState } from '@portico/gateway/admin-api'
import { stateQuery } from '../api/queries.ts'
import { formatRate } from '../format/numbers.ts'
import { formatAgo, formatMoment } from '../format/times.ts'
import { isGone } from './is-gone.ts'

/** The state of the gateway: its config, workers and load, or when it responded last. */
export function StatusLine() {
  const state = useQuery(stateQuery)
  const { data, error, dataUpdatedAt, errorUpdatedAt } = state
  if (data === undefined) {
    const said = error === null ? 'Connecting to the gateway …' : `The gateway does not respond: ${error.message}`
    return (
      <p className={error === null ? 'status' : 'status bad'} role="status">
        {said}
      </p>
    )
  }
  if (isGone(state)) {
    return (
      <p className="status bad" role="status">
        <Mark kind="bad" /> The gateway does not respond · last response{' '}
        {formatAgo(dataUpdatedAt, Math.max(errorUpdatedAt, dataUpdatedAt))}
      </p>
    )
  }
  return <Answered state={data} />
}

function Answered({ state }: { state: GatewayState }) {
  const { generation, since, problems, workers, requestsPerSecond, isDraining, access } = state
  const [problem] = problems
  if (problem !== undefined) {
    const others = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
    return (
      <p className="status bad" role="status" title={problems.map(({ text }) => text).join('\n')}>
        <Mark kind="bad" /> <strong>Reload rejected</strong>, config {generation} stays live ·{' '}
        <span className="mono">{problem.text}</span>
        {others}
      </p>
    )
  }
  return (
    <p className={isDraining ? 'status warn' : 'status'} role="status">
      <Mark kind={isDraining ? 'warn' : 'good'} /> {isDraining && <strong>Draining · </strong>}
      <span title={since === null ? undefined : `since ${formatMoment(since)}`}>
        {generation === 0 ? 'No config live yet' : `Config ${generation} live`}
      </span>
      <span className="status-more">
        {' '}
        · {workers} {workers === 1 ? 'worker' : 'workers'}
      </span>{' '}
      · <span className="number">{formatRate(requestsPerSecond).replace('/s', ' req/s')}</span>
      {access.scope === 'Read' && (
        <span title="This session may change nothing and send no requests">
          {' '}
          · read-only{access.token === null ? '' : ` (${access.token})`}
        </span>
      )}
    </p>
  )
}

function Mark({ kind }: { kind: 'good' | 'warn' | 'bad' }) {
  return (
    <span className={`mark mark-${kind}`} aria-hidden="true">
      {kind === 'good' ? '●' : '▲'}
    </span>
  )
}
