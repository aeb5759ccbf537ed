import type { TraceEvent } from '@portico/gateway/admin-api'
import { formatTook } from '../format/numbers.ts'
import { Value } from '../parts/value.tsx'
import { traceLines } from './trace-line.ts'
import './play.css'

const WORDS = { passed: 'applied', skipped: 'skipped', stopped: '▲ stopped', failed: '✕', plain: '' } as const

/** The steps of a request, from its trace. */
export function TraceList({ events, withSkipped = false }: { events: readonly TraceEvent[]; withSkipped?: boolean }) {
  const lines = traceLines(events, withSkipped)
  if (lines.length === 0) return <p className="note">No events yet.</p>
  return (
    <ol className="trace-list" aria-label="Steps">
      {lines.map(({ at, name, phase, kind, what }, index) => (
        <li key={index} className={`trace-${kind}`}>
          <span className="number dim">{formatTook(at)}</span>
          <span>
            <span className="mono">{name}</span> <span className="dim">{phase}</span> {WORDS[kind]}{' '}
            {what !== '' && <Value text={what} most={110} />}
          </span>
        </li>
      ))}
    </ol>
  )
}
