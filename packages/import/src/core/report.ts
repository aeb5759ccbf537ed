import { positionText, SourceError, type SourcePosition, type SourceText } from './source.ts'

/** `changed` is imported with another meaning, which the note states; `not carried` has no effect in the new config. */
export type Verdict = 'carried' | 'changed' | 'not carried'

/** One field or directive of the source, and its fate. */
export interface ReportEntry {
  readonly verdict: Verdict
  readonly at: SourcePosition
  /** The path of a field, or a directive with its arguments. Never a secret. */
  readonly name: string
  /** Empty for what is carried as it is. */
  readonly note: string
  /** Whether something that limited or protected access is missing or weaker now. */
  readonly isProtection: boolean
}

export type ImportReport = readonly ReportEntry[]

function countByVerdict(report: ImportReport): Record<Verdict, number> {
  const counts = { carried: 0, changed: 0, 'not carried': 0 }
  for (const { verdict } of report) counts[verdict]++
  return counts
}

/** `24 carried, 3 changed, 1 not carried (1 of it protected something)`. */
export function summaryLine(report: ImportReport): string {
  const counts = countByVerdict(report)
  const lost = report.filter(({ isProtection }) => isProtection).length
  const words = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`)
  return `${words.join(', ')}${lost === 0 ? '' : `; check ${lost} marked "protection" before traffic`}`
}

/** One line for an entry: position, verdict, name, note. */
export function entryLine({ verdict, at, name, note, isProtection }: ReportEntry): string {
  const mark = isProtection ? ' (protection)' : ''
  return `${positionText(at)}: ${verdict}${mark}: ${name}${note === '' ? '' : `: ${note}`}`
}

/** Refuses a source of which nothing can be imported; the first entry that is not carried says where and why. */
export function refuseAll(
  { name }: SourceText,
  { what, expected, entries }: { what: string; expected: string; entries: readonly ReportEntry[] },
): never {
  const lost = entries.find(({ verdict }) => verdict === 'not carried')
  const why = lost === undefined ? '' : ` (${lost.name}: ${lost.note})`
  throw new SourceError(
    lost?.at ?? { file: name, line: 1, column: 1 },
    `found no ${what} that can be imported${why}, expected ${expected}`,
  )
}

/** The entries in the order of the files. */
export function sortReport(entries: Iterable<ReportEntry>, files: readonly string[]): ImportReport {
  const order = new Map(files.map((file, index) => [file, index]))
  const rank = ({ at }: ReportEntry): number => order.get(at.file) ?? files.length
  return [...entries].toSorted(
    (a, b) => rank(a) - rank(b) || a.at.line - b.at.line || a.at.column - b.at.column || (a.name < b.name ? -1 : 1),
  )
}
