/** Line and column count from 1, columns in UTF-16 units as editors do. */
export interface Position {
  offset: number
  line: number
  column: number
}

export interface Problem {
  message: string
  position: Position
  suggestion?: string
}

export function positionAt(source: string, offset: number): Position {
  const before = source.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { offset, line: before.split('\n').length, column: offset - lineStart + 1 }
}
