import { Box, Text, useApp, useWindowSize } from 'ink'
import { createElement as h, type ReactNode, useMemo, useState, useSyncExternalStore } from 'react'
import { DetailPane } from './detail-pane.ts'
import { detailOf } from './detail.ts'
import { EventList } from './event-list.ts'
import { layoutFor, rowsIn, smallest } from './layout.ts'
import type { Theme } from './theme.ts'
import type { TraceSnapshot, TraceStore } from './trace-store.ts'
import { useKeys } from './use-keys.ts'
import { type Extent, firstView, move, showMode, switchPane } from './view-state.ts'

interface AppProps {
  readonly title: string
  readonly store: TraceStore
  readonly theme: Theme
}

const KEYS = 'tab pane  ↑↓ PgUp PgDn move  ←→ scroll  e event  s state  d diff  q quit'

/** The whole screen; the app exits with `quit` or `interrupt`. */
export function App({ title, store, theme }: AppProps): ReactNode {
  const { exit } = useApp()
  const size = useWindowSize()
  const snapshot = useSyncExternalStore(store.subscribe, store.snapshot)
  const [view, setView] = useState(firstView)
  const { events } = snapshot
  const { selected, mode, pane, top, left } = view
  const detail = useMemo(() => detailOf(events, selected, mode), [events, selected, mode])
  const layout = layoutFor(size)
  const extent: Extent = {
    events: events.length,
    listRows: layout === null ? 1 : rowsIn(layout.list),
    detailLines: detail.lines.length,
    detailRows: layout === null ? 1 : rowsIn(layout.detail),
  }
  useKeys({
    switchPane: () => setView(switchPane),
    move: (direction) => setView((view) => move(view, direction, extent)),
    showMode: (mode) => setView((view) => showMode(view, mode)),
    quit: exit,
  })
  if (layout === null) return h(TooSmall, size)
  return h(
    Box,
    { flexDirection: 'column', width: size.columns, height: size.rows },
    h(Text, { bold: true, wrap: 'truncate-end' }, title),
    h(
      Box,
      { flexDirection: layout.direction },
      h(EventList, { events, selected, size: layout.list, isActive: pane === 'list', theme }),
      h(DetailPane, { detail, mode, top, left, size: layout.detail, isActive: pane === 'detail', theme }),
    ),
    h(StatusLine, { snapshot, theme }),
    h(Text, { dimColor: true, wrap: 'truncate-end' }, KEYS),
  )
}

interface StatusLineProps {
  readonly snapshot: TraceSnapshot
  readonly theme: Theme
}

function StatusLine({ snapshot: { events, status, isTrouble }, theme }: StatusLineProps): ReactNode {
  const count = events.length === 0 ? '' : `${events.length} ${events.length === 1 ? 'event' : 'events'}; `
  return h(
    Text,
    { wrap: 'truncate-end', bold: isTrouble, color: isTrouble ? theme.trouble : undefined },
    `${count}${status}`,
  )
}

interface TooSmallProps {
  readonly columns: number
  readonly rows: number
}

function TooSmall({ columns, rows }: TooSmallProps): ReactNode {
  const text = `terminal too small: ${columns}x${rows}, needs ${smallest.columns}x${smallest.rows} (q quits)`
  return h(Text, { wrap: 'truncate-end' }, text)
}
