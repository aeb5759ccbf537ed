import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatTook } from '../format/numbers.ts'
import { Outcome } from '../parts/outcome.tsx'
import { Value } from '../parts/value.tsx'
import { Headline } from '../explanation/headline.tsx'
import { callDetails } from '../explanation/decision-text.ts'
import { Why } from '../explanation/why.tsx'
import type { SentRequest } from './send.ts'
import { TraceList } from './trace-list.tsx'
import '../requests/requests.css'
import './play.css'

/** The requests of a playground with their decisions. The newest is open. */
export function DecisionList({ requests }: { requests: readonly SentRequest[] }) {
  const [chosen, setChosen] = useState<number | null>(null)
  const open = chosen ?? requests.length - 1
  return (
    <section className="decided" aria-label="Decisions">
      <h2>Decisions</h2>
      {requests.length === 0 && (
        <p className="note">
          Requests sent from this page appear here with their steps, and with the policy that stopped them.
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

function Line({ sent: { call, status, end } }: { sent: SentRequest }) {
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

/** The headline and the trace of one request. A denied request has its explanation, too. */
export function Story({ sent: { end, trace } }: { sent: SentRequest }) {
  const record = end?.record ?? null
  return (
    <div className="decided-story">
      {record !== null && <Headline id={record.id} />}
      {record !== null && (
        <p>
          {callDetails(record) !== '' && <Value text={callDetails(record)} most={160} />}{' '}
          <Link to="/requests" search={{ id: record.id }}>
            Open the request
          </Link>
        </p>
      )}
      {end !== null && end.error !== null && <p className="play-failed">▲ {end.error}</p>}
      {record === null && end !== null && end.error === null && <p className="note">The request was not recorded.</p>}
      {trace.length > 0 && <TraceList events={trace} />}
      {record !== null && record.outcome !== 'passed' && <Why id={record.id} />}
    </div>
  )
}
