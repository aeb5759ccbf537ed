import { Button, Textarea } from '@mantine/core'
import type { RequestSummary } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { recordQuery } from '../api/queries.ts'
import { formatClock } from '../format/times.ts'
import { Outcome } from '../parts/outcome.tsx'
import { Value } from '../parts/value.tsx'
import { latestQuery } from './queries.ts'

const page = getRouteApi('/expressions')

interface InputPickProps {
  /** The variables as written. */
  text: string
  problem: string | null
  onText: (text: string) => void
}

/** The input of an expression: a recorded request, or variables as JSON. */
export function InputPick({ text, problem, onText }: InputPickProps) {
  const { id } = page.useSearch()
  return (
    <section className="expr-given" aria-label="Input">
      <h2>Input</h2>
      {id === undefined ? (
        <Textarea
          label="Variables as JSON"
          description="They stay in this page only."
          classNames={{ input: 'mono' }}
          autosize
          minRows={4}
          maxRows={20}
          spellCheck={false}
          value={text}
          error={problem}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      ) : (
        <Chosen id={id} />
      )}
      <h3>Latest requests</h3>
      <Latest chosen={id ?? null} />
    </section>
  )
}

function Chosen({ id }: { id: string }) {
  const { data, error } = useQuery(recordQuery(id))
  const navigate = page.useNavigate()
  return (
    <div className="expr-chosen">
      {data !== undefined && (
        <p>
          <span className="mono">{data.method ?? data.protocol}</span>{' '}
          <Value text={`${data.host ?? ''}${data.path ?? ''}`} /> <span className="dim">→</span>{' '}
          <Outcome status={data.status} outcome={data.outcome} />
        </p>
      )}
      {data === undefined && error === null && <p role="status">Reading the request …</p>}
      {data === undefined && error !== null && (
        <p className="expr-bad" role="alert">
          ▲ The request could not be read: {error.message}
        </p>
      )}
      {data?.steps === null && (
        <p className="note">Only a summary of this request was recorded, so many values are unknown.</p>
      )}
      <p>
        <Link to="/requests" search={{ id }} className="mono">
          {id}
        </Link>
      </p>
      <Button
        size="xs"
        variant="default"
        onClick={() => void navigate({ search: ({ id: _before, ...rest }) => rest, replace: true })}
      >
        Write variables instead
      </Button>
    </div>
  )
}

function Latest({ chosen }: { chosen: string | null }) {
  const { data, error, refetch } = useQuery(latestQuery)
  if (data === undefined && error !== null) {
    return (
      <>
        <p className="expr-bad" role="alert">
          ▲ {error.message}
        </p>
        <Button size="xs" variant="default" onClick={() => void refetch()}>
          Try again
        </Button>
      </>
    )
  }
  if (data === undefined) return <p role="status">Listing requests …</p>
  if (data.requests.length === 0) return <p className="note">No requests recorded yet.</p>
  return (
    <ul className="expr-latest" aria-label="Latest requests">
      {data.requests.map((request) => (
        <li key={request.id}>
          <Line request={request} isChosen={request.id === chosen} />
        </li>
      ))}
    </ul>
  )
}

function Line({ request, isChosen }: { request: RequestSummary; isChosen: boolean }) {
  const { id, at, method, protocol, path, status, outcome } = request
  return (
    <Link
      to="/expressions"
      search={(before) => ({ ...before, id })}
      replace
      aria-current={isChosen ? 'true' : undefined}
      title={path ?? protocol}
    >
      <span className="dim">{formatClock(at)}</span>
      <span className="mono expr-path">
        {method ?? protocol} {path}
      </span>
      <Outcome status={status} outcome={outcome} />
    </Link>
  )
}
