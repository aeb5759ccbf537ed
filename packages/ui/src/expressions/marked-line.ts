import type { ExpressionProblem } from '@portico/gateway/admin-api'

interface MarkedLine {
  readonly before: string
  readonly mark: string
  readonly after: string
}

/** The line of a problem, cut where it is. At the end of a line a space is marked. */
export function markedLine(expression: string, { line, column }: ExpressionProblem): MarkedLine {
  const text = expression.split('\n')[line - 1] ?? ''
  const at = column - 1
  const mark = /^(?:[\p{L}\p{N}_]+|[^])/u.exec(text.slice(at))?.[0] ?? ''
  return { before: text.slice(0, at), mark: mark === '' ? ' ' : mark, after: text.slice(at + mark.length) }
}
