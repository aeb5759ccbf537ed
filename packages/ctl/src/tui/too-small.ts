import { Text } from 'ink'
import { createElement as h, type ReactNode } from 'react'
import { smallest } from './layout.ts'

export interface TooSmallProps {
  readonly columns: number
  readonly rows: number
}

export function TooSmall({ columns, rows }: TooSmallProps): ReactNode {
  const text = `terminal too small: ${columns}x${rows}, needs ${smallest.columns}x${smallest.rows} (q quits)`
  return h(Text, { wrap: 'truncate-end' }, text)
}
