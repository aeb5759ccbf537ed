/** The value below which this share of all values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** One line of the table. */
export interface Row {
  what: string
  measured: string
  /** Empty where none is set. */
  bar: string
  /** Null where there is no bar. */
  isMet: boolean | null
}

/** A number that may be at most so large; without a bar it is only told. */
export function row(what: string, value: number, unit: string, most: number | null = null): Row {
  const digits = value < 10 ? 1 : 0
  return {
    what,
    measured: `${value.toFixed(digits)} ${unit}`,
    bar: most === null ? '' : `≤ ${most} ${unit}`,
    isMet: most === null ? null : value <= most,
  }
}

export function tableOf(rows: readonly Row[]): string {
  const cells = [
    ['what', 'measured', 'bar', ''],
    ...rows.map(({ what, measured, bar, isMet }) => [
      what,
      measured,
      bar,
      isMet === null ? '' : isMet ? 'met' : 'missed',
    ]),
  ]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const print = (line: readonly string[]): string =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [head = [], ...lines] = cells
  return [print(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines.map(print)].join('\n')
}
