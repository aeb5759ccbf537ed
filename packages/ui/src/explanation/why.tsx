import type { ExplainedPart, ExplainedRule, Explanation, ReadValue, SourceLocation } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { explanationQuery } from '../api/queries.ts'
import { formatClock } from '../format/times.ts'
import { Failed, Loading } from '../parts/states.tsx'
import { partText } from '../parts/part-text.ts'
import { Value } from '../parts/value.tsx'
import { locationText } from './location-text.ts'

/** The explanation: the policy that decided, the values it read, and changes that would let the request pass. */
export function Why({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(explanationQuery(id))
  if (data === undefined) {
    return error === null ? (
      <Loading what="the explanation" rows={3} />
    ) : (
      <Failed what="The explanation" error={error} onRetry={() => void refetch()} />
    )
  }
  return (
    <section className="why" aria-label="Why, and what would pass">
      <h3>Why, and what would pass</h3>
      <DecidedLine explanation={data} />
      <Rules rules={data.rules} />
      <Values values={data.values} />
      <Candidates explanation={data} />
      <Spent spending={data.spending} />
      <WouldPass explanation={data} />
      {data.remarks.map((remark) => (
        <p key={remark} className="dim">
          {remark}
        </p>
      ))}
    </section>
  )
}

function DecidedLine({ explanation: { decidedBy, config } }: { explanation: Explanation }) {
  if (decidedBy === null) return null
  const { policy, origin, place } = decidedBy
  return (
    <p className="dim">
      {policy !== null && (
        <>
          By <span className="mono">{policy}</span>
          {origin !== null && `, ${origin}`} ·{' '}
        </>
      )}
      config {config.generation}
      {!config.isExact && ', which is no longer available'}
      {config.live !== config.generation && ` (${config.live} is live now)`}
      <At place={place} />
    </p>
  )
}

function At({ place }: { place: SourceLocation | null }) {
  if (place === null) return null
  return (
    <>
      {' '}
      <span className="dim">▸</span> <Value text={locationText(place)} />
    </>
  )
}

function Rules({ rules }: { rules: readonly ExplainedRule[] }) {
  if (rules.length === 0) return null
  return (
    <ul className="why-list" aria-label="Rules">
      {rules.map(({ index, mode, expression, matched, isAgainst, place, value }) => (
        <li key={index}>
          <span className={isAgainst ? 'outcome-denied' : 'dim'}>
            {isAgainst ? '✗' : '·'} {mode}
          </span>{' '}
          <Value text={expression} most={160} /> <span className="dim">was {matched ? 'true' : 'not true'}</span>
          <At place={place} />
          {isAgainst && value !== null && <Parts parts={value.parts} />}
        </li>
      ))}
    </ul>
  )
}

/** Every part of an expression with its value. */
function Parts({ parts }: { parts: readonly ExplainedPart[] }) {
  if (parts.length === 0) return null
  return (
    <ul className="why-list">
      {parts.map((part, index) => (
        <li key={index}>
          <Value text={part.text} most={120} /> <span className="dim">→</span>{' '}
          <Value text={partText(part)} most={120} />
          <Parts parts={part.parts} />
        </li>
      ))}
    </ul>
  )
}

function Values({ values }: { values: readonly ReadValue[] }) {
  if (values.length === 0) return null
  return (
    <dl className="why-values" aria-label="Values">
      {values.map(({ name, state, value }) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd>
            <Value text={partText({ state, value })} most={160} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Candidates({ explanation: { candidates } }: { explanation: Explanation }) {
  if (candidates.length === 0) return null
  return (
    <ul className="why-list" aria-label="Nearest routes">
      {candidates.map(({ route, match, lacks, place }) => (
        <li key={`${route} ${match}`}>
          <span className="dim">not</span> <span className="mono">{route}</span>: {lacks.join('; ')}
          <At place={place} />
        </li>
      ))}
    </ul>
  )
}

/** The requests that spent the budget, each with a link to its detail. */
function Spent({ spending }: { spending: Explanation['spending'] }) {
  if (spending === null || spending.requests === 0) return null
  const { counts, total, requests, isWhole, latest } = spending
  return (
    <>
      <p className="dim">
        Spent since {formatClock(spending.from)}: {isWhole ? '' : 'at least '}
        {counts === 'tokens' && `${total.toLocaleString()} tokens, `}by {requests} requests
      </p>
      <ul className="why-list" aria-label="Requests that spent it">
        {latest.map(({ id, at, key, cost }) => (
          <li key={id}>
            <Link to="/requests" search={{ id }} className="mono">
              {id}
            </Link>{' '}
            <span className="dim">{formatClock(at)}</span> {key !== null && <Value text={key} />}{' '}
            {counts === 'tokens' && `${cost.toLocaleString()} tokens`}
          </li>
        ))}
      </ul>
    </>
  )
}

function WouldPass({ explanation: { wouldPass } }: { explanation: Explanation }) {
  if (wouldPass.length === 0) return null
  return (
    <>
      <p>It passes if</p>
      <ul className="why-list would-pass" aria-label="What would pass">
        {wouldPass.map(({ text, changes }) => (
          <li key={text}>
            {text}
            <At place={changes.find(({ by }) => by === 'config')?.place ?? null} />
          </li>
        ))}
      </ul>
    </>
  )
}
