import type { Diagnostic } from '@codemirror/lint'
import type { Text } from '@codemirror/state'
import { withoutPlace } from './place.ts'

/** Something to be seen at a place of the text. */
export interface EditorMark {
  readonly line: number | null
  readonly column: number | null
  readonly text: string
  readonly severity: 'error' | 'warning'
}

/** Marks as the editor takes them: the word at the place, or the rest of its line. */
export function diagnosticsOf(document: Text, marks: readonly EditorMark[]): Diagnostic[] {
  return marks.flatMap(({ line, column, text, severity }) => {
    if (line === null) return []
    const from = offsetAt(document, line, column ?? 1)
    const rest = document.sliceString(from, document.lineAt(from).to)
    const [word = ''] = /^(?:"[^"]*"|'[^']*'|[^\s:,{}[\]]+)/.exec(rest) ?? []
    return [{ from, to: from + Math.max(word.length, Math.min(1, rest.length)), severity, message: withoutPlace(text) }]
  })
}

/** The places that are not there any more are at the end. */
export function offsetAt(document: Text, line: number, column: number): number {
  const found = document.line(Math.min(Math.max(line, 1), document.lines))
  return Math.min(found.from + Math.max(column - 1, 0), found.to)
}
