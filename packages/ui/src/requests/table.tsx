import type { ListedRequest } from '@portico/gateway/admin-api'
import { useElementSize, useMediaQuery, useMergedRef } from '@mantine/hooks'
import { type UIEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { formatTook } from '../format/numbers.ts'
import { formatClock, formatMoment } from '../format/times.ts'
import { Outcome } from '../parts/outcome.tsx'
import type { Shown } from './request-store.ts'
import { rowWindow } from './row-window.ts'
import { whatDecided } from './what-decided.ts'

interface TableProps {
  shown: Shown
  /** The row that keys work on. */
  cursor: string | null
  openId: string | null
  onOpen: (id: string) => void
  /** The end of what was read is near. */
  onEnd: () => void
}

const COLUMNS = ['time', 'outcome', 'method', 'host and path', 'route', 'backend', 'took', 'what decided'] as const

/** Rows of one height, of which only those in sight exist. What comes in above moves nobody who has scrolled down. */
export function RequestTable({ shown, cursor, openId, onOpen, onEnd }: TableProps) {
  const bodyRef = useRef<HTMLDivElement>(null)
  const { ref: sizeRef, height } = useElementSize<HTMLDivElement>()
  const ref = useMergedRef(bodyRef, sizeRef)
  const rowHeight = useMediaQuery('(max-width: 720px)') ? 50 : 27
  const [scrollTop, setScrollTop] = useState(0)
  const seenAdded = useRef(shown.added)
  const { rows, added } = shown
  const { from, to } = rowWindow(scrollTop, height, rowHeight, rows.length)

  useLayoutEffect(() => {
    const fresh = added - seenAdded.current
    seenAdded.current = added
    const body = bodyRef.current
    if (body !== null && fresh > 0 && body.scrollTop > 0) body.scrollTop += fresh * rowHeight
  }, [added, rowHeight])

  useEffect(() => {
    if (to >= rows.length - 40) onEnd()
  }, [to, rows.length, onEnd])

  const index = rows.findIndex(({ id }) => id === cursor)
  useEffect(() => {
    const body = bodyRef.current
    if (body === null || index < 0) return
    const top = index * rowHeight
    if (top < body.scrollTop) body.scrollTop = top
    else if (top + rowHeight > body.scrollTop + body.clientHeight) body.scrollTop = top + rowHeight - body.clientHeight
    // Only a move of the cursor scrolls, and not what comes in.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [cursor])

  return (
    <div className="table" role="table" aria-label="Requests" aria-rowcount={rows.length + 1}>
      <div role="rowgroup" className="table-head">
        <div role="row" className="row" aria-rowindex={1}>
          {COLUMNS.map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      <div
        ref={ref}
        role="rowgroup"
        className="table-body"
        tabIndex={0}
        aria-label="Rows"
        onScroll={(event: UIEvent<HTMLDivElement>) => setScrollTop(event.currentTarget.scrollTop)}
      >
        <div className="table-space" style={{ height: rows.length * rowHeight }}>
          {rows.slice(from, to).map((row, offset) => (
            <Row
              // By place, so that a flood changes texts and makes no elements anew.
              key={offset}
              row={row}
              index={from + offset}
              top={(from + offset) * rowHeight}
              height={rowHeight}
              isCurrent={row.id === cursor}
              isOpen={row.id === openId}
              onOpen={onOpen}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

interface RowProps {
  row: ListedRequest
  index: number
  top: number
  height: number
  isCurrent: boolean
  isOpen: boolean
  onOpen: (id: string) => void
}

function Row({ row, index, top, height, isCurrent, isOpen, onOpen }: RowProps) {
  const { id, at, method, host, path, route, backend, took, status, outcome, protocol } = row
  const className = ['row', `row-${outcome}`, isCurrent && 'current', isOpen && 'open'].filter(Boolean).join(' ')
  return (
    <div
      role="row"
      className={className}
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${top}px)`, height }}
      onClick={() => onOpen(id)}
    >
      <span role="cell" className="cell-time number" title={formatMoment(at)}>
        {formatClock(at)}
      </span>
      <span role="cell" className="cell-outcome">
        <Outcome status={status} outcome={outcome} />
      </span>
      <span role="cell" className="cell-method mono">
        {method ?? protocol}
      </span>
      <span role="cell" className="cell-path mono" title={`${host ?? ''}${path ?? ''}`}>
        <button type="button" tabIndex={-1} onClick={() => onOpen(id)}>
          <span className="dim">{host ?? ''}</span>
          {path ?? ''}
        </button>
      </span>
      <span role="cell" className="cell-route mono">
        {route ?? '–'}
      </span>
      <span role="cell" className="cell-backend mono">
        {backend ?? '–'}
      </span>
      <span role="cell" className="cell-took number">
        {formatTook(took)}
      </span>
      <span role="cell" className="cell-decided" title={whatDecided(row)}>
        {whatDecided(row)}
      </span>
    </div>
  )
}
