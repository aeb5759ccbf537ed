import { Box, Text } from 'ink'
import { createElement as h, type ReactNode } from 'react'
import type { Theme } from './theme.ts'

export interface PaneProps {
  readonly heading: string
  readonly size: { readonly width: number; readonly height: number }
  readonly isActive: boolean
  readonly theme: Theme
  readonly children?: ReactNode
}

/** A frame with a heading; the active pane also differs in its line style, not only in color. */
export function Pane({ heading, size, isActive, theme, children }: PaneProps): ReactNode {
  return h(
    Box,
    {
      ...size,
      flexDirection: 'column',
      overflow: 'hidden',
      borderStyle: isActive ? 'double' : 'single',
      borderColor: isActive ? theme.active : undefined,
    },
    h(Text, { bold: true, wrap: 'truncate-end' }, heading),
    children,
  )
}
