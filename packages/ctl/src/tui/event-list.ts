import { Text } from 'ink'
import { createElement as h, type ReactNode } from 'react'
import { printable } from '../printable.ts'
import type { TraceEvent } from '../trace/event.ts'
import { summarize } from '../trace/summary.ts'
import type { Theme } from './theme.ts'
import { rowsIn } from './layout.ts'
import { Pane, type PaneProps } from './pane.ts'
import { firstRow } from './view-state.ts'

interface EventListProps extends Pick<PaneProps, 'size' | 'isActive' | 'theme'> {
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

interface EventRowProps {
  readonly number: number
  readonly event: TraceEvent
  readonly isSelected: boolean
  readonly theme: Theme
}

const TYPE_WIDTH = 19

const rowHeading = `  ${'#'.padStart(3)} ${'type'.padEnd(TYPE_WIDTH)} summary`

function EventRow({ number, event, isSelected, theme }: EventRowProps): ReactNode {
  const type = printable(event.type).slice(0, TYPE_WIDTH).padEnd(TYPE_WIDTH)
  return h(
    Text,
    { wrap: 'truncate-end', inverse: isSelected, color: theme.bySeverity[event.severity] },
    `${isSelected ? '>' : ' '} ${String(number).padStart(3)} ${type} ${printable(summarize(event))}`,
  )
}
