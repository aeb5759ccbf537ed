import { useQuery } from '@tanstack/react-query'
import type { GatewayState } from '@portico/gateway/admin-api'
import { stateQuery } from '../api/queries.ts'
import { formatRate } from '../format/numbers.ts'
import { formatAgo, formatMoment } from '../format/times.ts'
import { isGone } from './is-gone.ts'

/** How the gateway is, always: what it said last, and when that was if it is gone. */
export function StatusLine() {
  const state = useQuery(stateQuery)
  const { data, error, dataUpdatedAt, errorUpdatedAt } = state
  if (data === undefined) {
    const said = error === null ? 'asking the gateway …' : `the gateway does not answer: ${error.message}`
    return (
      <p className={error === null ? 'status' : 'status bad'} role="status">
        {said}
      </p>
    )
  }
  if (isGone(state)) {
    return (
      <p className="status bad" role="status">
        <Mark kind="bad" /> the gateway does not answer · last heard{' '}
        {formatAgo(dataUpdatedAt, Math.max(errorUpdatedAt, dataUpdatedAt))}
      </p>
    )
  }
  return <Answered state={data} />
}

function Answered({ state }: { state: GatewayState }) {
  const { generation, since, problems, workers, requestsPerSecond, isDraining } = state
  const [problem] = problems
  if (problem !== undefined) {
    const others = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
    return (
      <p className="status bad" role="status" title={problems.map(({ text }) => text).join('\n')}>
        <Mark kind="bad" /> <strong>reload refused</strong>, config {generation} stays live ·{' '}
        <span className="mono">{problem.text}</span>
        {others}
      </p>
    )
  }
  return (
    <p className={isDraining ? 'status warn' : 'status'} role="status">
      <Mark kind={isDraining ? 'warn' : 'good'} /> {isDraining && <strong>draining · </strong>}
      <span title={since === null ? undefined : `since ${formatMoment(since)}`}>
        {generation === 0 ? 'no config live yet' : `config ${generation} live`}
      </span>
      <span className="status-more">
        {' '}
        · {workers} {workers === 1 ? 'worker' : 'workers'}
      </span>{' '}
      · <span className="number">{formatRate(requestsPerSecond).replace('/s', ' req/s')}</span>
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
