import type { ListedRequest } from '@portico/gateway/admin-api'
import { useElementSize, useMediaQuery, useMergedRef } from '@mantine/hooks'
import { type UIEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { REQUEST_COLUMNS, REQUEST_GRID } from './columns.tsx'
import type { RequestRows } from './request-store.ts'
import { rowWindow } from './row-window.ts'

interface TableProps {
  shown: RequestRows
  /** The row that keys work on. */
  cursor: string | null
  openId: string | null
  onOpen: (id: string) => void
  /** Called when the end of the rows is near. */
  onEnd: () => void
}

/** The table of requests. Only rows in sight are drawn, and rows added above do not move a reader who has scrolled down. */
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
    // Only a move of the cursor scrolls, not a new row.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [cursor])

  return (
    <div
      className="table"
      role="table"
      aria-label="Requests"
      aria-rowcount={rows.length + 1}
      style={{ '--request-grid': REQUEST_GRID }}
    >
      <div role="rowgroup" className="table-head">
        <div role="row" className="row" aria-rowindex={1}>
          {REQUEST_COLUMNS.map(({ name, header, align }) => (
            <span key={name} role="columnheader" style={{ textAlign: align }}>
              {header}
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
              // Keyed by position: a flood of requests then changes texts and creates no elements.
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
  const { id, outcome } = row
  const className = ['row', `row-${outcome}`, isCurrent && 'current', isOpen && 'open'].filter(Boolean).join(' ')
  return (
    <div
      role="row"
      className={className}
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${top}px)`, height }}
      onClick={() => onOpen(id)}
    >
      {REQUEST_COLUMNS.map(({ name, font, narrowArea, cell, tooltip }) => (
        <span
          key={name}
          role="cell"
          className={`cell-${name} ${font} ${narrowArea === null ? 'wide-only' : ''}`}
          style={{ '--narrow-area': narrowArea ?? 'auto' }}
          title={tooltip?.(row)}
        >
          {cell(row)}
        </span>
      ))}
    </div>
  )
}
