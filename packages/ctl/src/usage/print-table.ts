import { printable } from '../printable.ts'

/** Prints a table: the first `texts` columns are aligned left, the others right. An empty cell is a dash. */
export function printTable(rows: readonly (readonly string[])[], texts: number): string {
  const cells = rows.map((row) => row.map((text) => (text === '' ? '-' : printable(text))))
  const widths = cells[0]?.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0))) ?? []
  const align = (text: string, i: number): string =>
    i < texts ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0)
  return cells.map((row) => `${row.map(align).join('  ').trimEnd()}\n`).join('')
}
