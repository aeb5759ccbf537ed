import { Text } from 'ink'
import { createElement as h, type ReactNode } from 'react'
import { printable } from '../printable.ts'
import type { TraceEvent } from '../trace/event.ts'
import { summarize } from '../trace/summary.ts'
import type { Theme } from './theme.ts'

export interface EventRowProps {
  readonly number: number
  readonly event: TraceEvent
  readonly isSelected: boolean
  readonly theme: Theme
}

const TYPE_WIDTH = 19

export const rowHeading = `  ${'#'.padStart(3)} ${'type'.padEnd(TYPE_WIDTH)} summary`

export function EventRow({ number, event, isSelected, theme }: EventRowProps): ReactNode {
  const type = printable(event.type).slice(0, TYPE_WIDTH).padEnd(TYPE_WIDTH)
  return h(
    Text,
    { wrap: 'truncate-end', inverse: isSelected, color: theme.bySeverity[event.severity] },
    `${isSelected ? '>' : ' '} ${String(number).padStart(3)} ${type} ${printable(summarize(event))}`,
  )
}
