import type { AuditEntryView } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { formatMoment } from '../format/times.ts'
import { Empty, Failed, Loading, Stale } from '../parts/states.tsx'
import { Value } from '../parts/value.tsx'
import { changedValues } from './changed-values.ts'
import { changesQuery } from './queries.ts'

const page = getRouteApi('/keys')

/** The changes of keys and teams, and purges: when, by whom, and the values before and after. */
export function Changes() {
  const search = page.useSearch()
  const { data, error, refetch, dataUpdatedAt } = useQuery(changesQuery(search))
  if (data === undefined) {
    if (error === null) return <Loading what="changes" />
    return <Failed what="The changes" error={error} onRetry={() => void refetch()} />
  }
  return (
    <section className="keys-main" aria-label="Changes">
      {search.key !== undefined && (
        <p>
          Changes of the key <span className="mono">{search.key}</span>{' '}
          <Link to="/keys" search={{ list: 'changes' }}>
            All changes
          </Link>
        </p>
      )}
      {error !== null && <Stale at={dataUpdatedAt} error={error} />}
      {data.entries.length === 0 ? (
        <Empty title="No changes">
          <p>Each change of a key or a team leaves an entry here.</p>
        </Empty>
      ) : (
        <ChangeTable entries={data.entries} />
      )}
      <nav className="keys-pages" aria-label="Pages of changes">
        {search.before !== undefined && (
          <Link to="/keys" search={({ before: _before, ...rest }) => rest}>
            Latest changes
          </Link>
        )}
        {data.next !== null && (
          <Link to="/keys" search={(before) => ({ ...before, before: data.next ?? 0 })}>
            Earlier changes
          </Link>
        )}
      </nav>
    </section>
  )
}

function ChangeTable({ entries }: { entries: readonly AuditEntryView[] }) {
  return (
    <div className="keys-space" role="region" aria-label="Table of changes" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {['Time', 'By', 'Change', 'Before and after'].map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td className="number">{formatMoment(Date.parse(entry.at)).slice(0, -4)}</td>
              <td>
                <Value text={entry.by} most={60} />
              </td>
              <td>
                {entry.action} {entry.kind} <span className="mono">{entry.name}</span>
              </td>
              <td className="keys-difference">
                <Difference entry={entry} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Difference({ entry: { before, after } }: { entry: AuditEntryView }) {
  const values = changedValues(before, after)
  if (values.length === 0) return <span className="dim">no value differs</span>
  return (
    <dl>
      {values.map(({ name, before: was, after: is }) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd>
            {was === null ? <span className="dim">none</span> : <Value text={was} most={30} />}
            <span aria-label="changed to"> → </span>
            {is === null ? <span className="dim">none</span> : <Value text={is} most={30} />}
          </dd>
        </div>
      ))}
    </dl>
  )
}
