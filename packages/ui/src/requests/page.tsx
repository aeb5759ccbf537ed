import { getRouteApi } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useKeys } from '../parts/use-keys.ts'
import { Empty, Failed, Loading } from '../parts/states.tsx'
import { Detail } from './detail.tsx'
import { parseFilter } from './filter.ts'
import { FilterBar } from './filter-bar.tsx'
import './requests.css'
import { RequestTable } from './table.tsx'
import { useRequests } from './use-requests.ts'

const route = getRouteApi('/requests')

/** Requests, newest first, and the detail of one. The address holds the whole state of the page. */
export function RequestsPage() {
  const { q = '', id = null, tab = 'decisions', paused = false } = route.useSearch()
  const navigate = route.useNavigate()
  const requests = useRequests(q, paused)
  const filterInput = useRef<HTMLInputElement>(null)
  const [cursor, setCursor] = useState<string | null>(id)
  const { rows } = requests.shown

  const open = (next: string | null): void => {
    if (next !== null) setCursor(next)
    void navigate({ search: ({ id: _id, tab: _tab, ...rest }) => (next === null ? rest : { ...rest, id: next }) })
  }
  const move = (step: number): void => {
    const at = rows.findIndex((row) => row.id === cursor)
    const next = rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)]
    if (next === undefined) return
    setCursor(next.id)
    if (id !== null) void navigate({ search: (search) => ({ ...search, id: next.id }), replace: true })
  }
  const filterBy = (text: string): void =>
    void navigate({ search: ({ q: _q, ...rest }) => (text === '' ? rest : { ...rest, q: text }) })
  const hold = (): void =>
    void navigate({ search: ({ paused: was, ...rest }) => (was === true ? rest : { ...rest, paused: true }) })
  useKeys({
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    Enter: () => cursor !== null && open(cursor),
    Escape: () => (document.activeElement === filterInput.current ? filterInput.current?.blur() : open(null)),
    '/': () => filterInput.current?.focus(),
    l: hold,
  })
  return (
    <div className={id === null ? 'requests' : 'requests with-detail'}>
      <h1 className="visually-hidden">Requests</h1>
      <FilterBar key={q} text={q} requests={requests} inputRef={filterInput} onFilter={filterBy} onHold={hold} />
      <Rows filter={q} requests={requests} cursor={cursor} openId={id} onOpen={open} onFilter={filterBy} />
      {id !== null && (
        <Detail
          id={id}
          tab={tab}
          onTab={(next) => void navigate({ search: (search) => ({ ...search, tab: next }), replace: true })}
          onClose={() => open(null)}
        />
      )}
    </div>
  )
}

interface RowsProps {
  filter: string
  requests: ReturnType<typeof useRequests>
  cursor: string | null
  openId: string | null
  onOpen: (id: string) => void
  onFilter: (text: string) => void
}

function Rows({ filter, requests, cursor, openId, onOpen, onFilter }: RowsProps) {
  const { shown, error, isLoading, retry, more } = requests
  if (shown.rows.length > 0)
    return <RequestTable shown={shown} cursor={cursor} openId={openId} onOpen={onOpen} onEnd={more} />
  if (error !== null) return <Failed what="Requests" error={error} onRetry={retry} />
  if (isLoading) return <Loading what="requests" rows={14} />
  if (filter !== '') {
    return (
      <Empty title="No request matches">
        <p>
          {parseFilter(filter).terms.length === 0
            ? 'The filter has no valid term.'
            : 'No recorded request matches the filter.'}{' '}
          <button type="button" className="link" onClick={() => onFilter('')}>
            Show all
          </button>
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="No requests yet">
      <p>
        Send one to a port of this gateway; it appears here at once. <code>npm start</code> without a config prints some
        to try.
      </p>
    </Empty>
  )
}
