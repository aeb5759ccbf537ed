import { Text } from 'ink'
import { createElement as h, type ReactNode } from 'react'
import type { Detail, DetailLine } from './detail.ts'
import { rowsIn } from './layout.ts'
import { Pane, type PaneProps } from './pane.ts'
import type { Theme } from './theme.ts'
import type { DetailMode } from './view-state.ts'

interface DetailPaneProps extends Pick<PaneProps, 'size' | 'isActive' | 'theme'> {
  readonly detail: Detail
  readonly mode: DetailMode
  readonly top: number
  readonly left: number
}

export function DetailPane({ detail, mode, top, left, size, isActive, theme }: DetailPaneProps): ReactNode {
  const rows = rowsIn(size)
  // After the window grows, the end of a scrolled text stays at the bottom.
  const first = Math.max(0, Math.min(top, detail.lines.length - rows))
  const shown = detail.lines.slice(first, first + rows)
  const heading = `[${mode}] ${detail.title}${position(first, rows, detail.lines.length)}`
  return h(
    Pane,
    { heading, size, isActive, theme },
    shown.map(({ text, kind }, at) =>
      // An empty text would take no row.
      h(Text, { key: first + at, wrap: 'truncate-end', color: colourOf(kind, theme) }, text.slice(left) || ' '),
    ),
  )
}

function position(first: number, rows: number, count: number): string {
  return count <= rows ? '' : `  (${first + 1}-${Math.min(first + rows, count)} of ${count})`
}

function colourOf(kind: DetailLine['kind'], theme: Theme): string | undefined {
  return kind === 'plain' ? undefined : theme[kind]
}
