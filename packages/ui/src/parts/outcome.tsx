import type { RecordOutcome } from '@portico/gateway/admin-api'
import './outcome.css'

/** Each outcome has a color, a shape and a word, so that people who miss one of them have the others. */
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
  // An error that the backend answered with is no success, although no policy stopped it: a provider's 429 must stand out.
  const isPassedError = outcome === 'passed' && status >= 400
  return (
    <span
      className={`outcome outcome-${outcome}${isPassedError ? ' outcome-error' : ''}`}
      title={isPassedError ? 'The backend answered with an error' : outcome}
    >
      <span className="outcome-status">{status === 0 ? '—' : status}</span>
      <span aria-hidden="true"> {SHAPES[outcome]}</span>
      {outcome !== 'passed' && <span className="visually-hidden"> {outcome}</span>}
    </span>
  )
}
