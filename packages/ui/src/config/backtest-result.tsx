import type { BacktestExample, BacktestReport, CheckRequest, FlipGroup } from '@portico/gateway/admin-config'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RefusedCall } from '../api/client.ts'
import { Loading } from '../parts/states.tsx'
import { backtestSentences, FLIP_WORDS } from './backtest-text.ts'
import { backtestQuery } from './config-queries.ts'

/** Shows how an edited config would decide the last requests, compared with what happened to them. */
export function BacktestResult({ request, live }: { request: CheckRequest; live: string }) {
  const { data, error } = useQuery(backtestQuery(request, live))
  return (
    <section className="backtest" aria-label="Recorded requests">
      {error !== null && <p className="dim">{failureText(error)}</p>}
      {error === null && data === undefined && <Loading what="decisions about recorded requests" rows={2} />}
      {data !== undefined && error === null && <Decisions report={data.report} />}
    </section>
  )
}

function Decisions({ report }: { report: BacktestReport }) {
  const { flips, unknowns } = report
  const [first, ...others] = backtestSentences(report)
  return (
    <>
      <p role="status">
        <strong>{first}</strong> {others.join(' ')}
      </p>
      {flips.length > 0 && (
        <ol aria-label="Changed decisions">
          {flips.slice(0, MOST_GROUPS).map((group) => (
            <Flips key={`${group.kind} ${group.cause}`} group={group} />
          ))}
        </ol>
      )}
      {flips.length > MOST_GROUPS && <p className="dim">{flips.length - MOST_GROUPS} more causes are not shown.</p>}
      {unknowns.length > 0 && (
        <details>
          <summary>Undecided requests by cause</summary>
          <ul>
            {unknowns.slice(0, MOST_GROUPS).map(({ cause, count, example }) => (
              <li key={cause}>
                {count.toLocaleString('en')}: {cause}, such as <Example example={example} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

function Flips({ group: { kind, cause, count, example, decidedAt } }: { group: FlipGroup }) {
  return (
    <li>
      {count.toLocaleString('en')} {FLIP_WORDS[kind]}: {cause}
      {decidedAt !== null && 'line' in decidedAt && <span className="dim"> (line {decidedAt.line})</span>}
      <br />
      <span className="dim">
        such as <Example example={example} />: {example.before}
      </span>
    </li>
  )
}

function Example({ example: { id, method, host, path } }: { example: BacktestExample }) {
  return (
    <Link to="/requests" search={{ id }} className="mono wrap">
      {method === null ? id : `${method} ${host ?? ''}${path ?? ''}`}
    </Link>
  )
}

function failureText(error: Error): string {
  // The gateway responds with 409 when no requests are recorded.
  const isExpected = error instanceof RefusedCall && error.status === 409
  return `${isExpected ? 'Recorded requests tell nothing' : 'The back-test failed'}: ${error.message}.`
}

const MOST_GROUPS = 8
