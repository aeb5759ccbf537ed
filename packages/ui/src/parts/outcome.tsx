import type { RecordOutcome } from '@portico/gateway/admin-api'
import './outcome.css'

/** Each outcome has a colour, a shape and a word, so that none of them is needed. */
const SHAPES: Readonly<Record<RecordOutcome, string>> = {
  passed: '',
  denied: '▲',
  limited: '▲',
  failed: '✕',
  evicted: '✕',
  aborted: '◁',
  slow: '◆',
}

export function Outcome({ status, outcome }: { status: number; outcome: RecordOutcome }) {
  // An error of the backend that passed is no success: a provider's 429 must be seen.
  const isPassedError = outcome === 'passed' && status >= 400
  return (
    <span
      className={`outcome outcome-${outcome}${isPassedError ? ' outcome-error' : ''}`}
      title={isPassedError ? 'the backend answered with an error' : outcome}
    >
      <span className="outcome-status">{status === 0 ? '—' : status}</span>
      <span aria-hidden="true"> {SHAPES[outcome]}</span>
      {outcome !== 'passed' && <span className="visually-hidden"> {outcome}</span>}
    </span>
  )
}
