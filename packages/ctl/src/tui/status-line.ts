import { Text } from 'ink'
import { createElement as h, type ReactNode } from 'react'
import type { Theme } from './theme.ts'
import type { TraceSnapshot } from './trace-store.ts'

export interface StatusLineProps {
  readonly snapshot: TraceSnapshot
  readonly theme: Theme
}

export function StatusLine({ snapshot: { events, status, isTrouble }, theme }: StatusLineProps): ReactNode {
  const count = events.length === 0 ? '' : `${events.length} ${events.length === 1 ? 'event' : 'events'}; `
  return h(
    Text,
    { wrap: 'truncate-end', bold: isTrouble, color: isTrouble ? theme.trouble : undefined },
    `${count}${status}`,
  )
}
