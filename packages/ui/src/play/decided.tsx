import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatTook } from '../format/numbers.ts'
import { Outcome } from '../parts/outcome.tsx'
import { Value } from '../parts/value.tsx'
import { Headline } from '../explanation/headline.tsx'
import { callDetails } from '../explanation/what-decided.ts'
import { Why } from '../explanation/why.tsx'
import type { Sent } from './send.ts'
import { TraceList } from './trace-list.tsx'
import '../requests/requests.css'
import './play.css'

/** What was decided about the requests of a playground, the newest open. */
export function Decided({ requests }: { requests: readonly Sent[] }) {
  const [chosen, setChosen] = useState<number | null>(null)
  const open = chosen ?? requests.length - 1
  return (
    <section className="decided" aria-label="Decisions">
      <h2>Decisions</h2>
      {requests.length === 0 && (
        <p className="note">
          Each request that is sent from here appears with the steps that it took, and what stopped it.
        </p>
      )}
      <ol>
        {requests.map((sent, index) => (
          <li key={index}>
            <button
              type="button"
              className="decided-line"
              aria-expanded={index === open}
              onClick={() => setChosen(index === open ? -1 : index)}
            >
              <Line sent={sent} />
            </button>
            {index === open && <Story sent={sent} />}
          </li>
        ))}
      </ol>
    </section>
  )
}

function Line({ sent: { call, status, end } }: { sent: Sent }) {
  const record = end?.record ?? null
  return (
    <>
      {record === null ? (
        <span className="mono">{status ?? '—'}</span>
      ) : (
        <Outcome status={record.status} outcome={record.outcome} />
      )}{' '}
      <span className="mono decided-path">
        {call.method} {call.path}
      </span>
      <span className="number dim">{end === null ? '' : formatTook(record?.took ?? end.took)}</span>
    </>
  )
}

/** The record says it in short, the trace step by step; of a refusal also what would have passed. */
export function Story({ sent: { end, trace } }: { sent: Sent }) {
  const record = end?.record ?? null
  return (
    <div className="decided-story">
      {record !== null && <Headline id={record.id} />}
      {record !== null && (
        <p>
          {callDetails(record) !== '' && <Value text={callDetails(record)} most={160} />}{' '}
          <Link to="/requests" search={{ id: record.id }}>
            open the request
          </Link>
        </p>
      )}
      {end !== null && end.error !== null && <p className="play-failed">▲ {end.error}</p>}
      {record === null && end !== null && end.error === null && <p className="note">Nothing was recorded of it.</p>}
      {trace.length > 0 && <TraceList events={trace} />}
      {record !== null && record.outcome !== 'passed' && <Why id={record.id} />}
    </div>
  )
}
