import { createElement as h, type ReactNode } from 'react'
import type { TraceEvent } from '../trace/event.ts'
import { EventRow, rowHeading } from './event-row.ts'
import { rowsIn } from './layout.ts'
import { Pane, type PaneProps } from './pane.ts'
import { firstRow } from './view-state.ts'

export interface EventListProps extends Pick<PaneProps, 'size' | 'isActive' | 'theme'> {
  readonly events: readonly TraceEvent[]
  readonly selected: number
}

export function EventList({ events, selected, size, isActive, theme }: EventListProps): ReactNode {
  const rows = rowsIn(size)
  const first = firstRow(selected, events.length, rows)
  const shown = events.slice(first, first + rows)
  return h(
    Pane,
    { heading: rowHeading, size, isActive, theme },
    shown.map((event, at) => {
      const index = first + at
      return h(EventRow, { key: index, number: index + 1, event, isSelected: index === selected, theme })
    }),
  )
}
