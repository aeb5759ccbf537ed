import type { Diagnostic } from '@codemirror/lint'
import type { Text } from '@codemirror/state'
import { withoutLocation } from './location.ts'

/** A problem or a warning at a location of the text. */
export interface EditorMark {
  readonly line: number | null
  readonly column: number | null
  readonly text: string
  readonly severity: 'error' | 'warning'
}

/** Diagnostics for the editor: each marks the word at its location, or one character. */
export function diagnosticsOf(document: Text, marks: readonly EditorMark[]): Diagnostic[] {
  return marks.flatMap(({ line, column, text, severity }) => {
    if (line === null) return []
    const from = offsetAt(document, line, column ?? 1)
    const rest = document.sliceString(from, document.lineAt(from).to)
    const [word = ''] = /^(?:"[^"]*"|'[^']*'|[^\s:,{}[\]]+)/.exec(rest) ?? []
    return [
      { from, to: from + Math.max(word.length, Math.min(1, rest.length)), severity, message: withoutLocation(text) },
    ]
  })
}

/** The offset of a location. A location beyond the text is at its end. */
export function offsetAt(document: Text, line: number, column: number): number {
  const found = document.line(Math.min(Math.max(line, 1), document.lines))
  return Math.min(found.from + Math.max(column - 1, 0), found.to)
}
