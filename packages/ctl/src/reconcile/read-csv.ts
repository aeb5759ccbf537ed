/** A row of a CSV file, with the line that the row begins in. */
export interface CsvRow {
  readonly line: number
  readonly fields: readonly string[]
}

/** Reads CSV as RFC 4180 defines it, with any line ends; returns the problem with its line as a text. */
export function readCsv(text: string): readonly CsvRow[] | string {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  const rows: CsvRow[] = []
  let at = 0
  let line = 1
  while (at < source.length) {
    const fields: string[] = []
    const first = line
    for (;;) {
      const field = source[at] === '"' ? readQuoted(source, at) : readPlain(source, at)
      if (field === null) return `line ${line}: a quote is not closed`
      fields.push(field.text)
      line += lineEnds(source.slice(at, field.end))
      at = field.end
      if (source[at] !== ',') break
      at++
    }
    if (at < source.length && source[at] !== '\n' && source[at] !== '\r') {
      return `line ${line}: found ${JSON.stringify(source[at])} after a closing quote`
    }
    at += source.startsWith('\r\n', at) ? 2 : 1
    line++
    // Exports may end with empty lines.
    if (fields.length > 1 || fields[0] !== '') rows.push({ line: first, fields })
  }
  return rows
}

interface Field {
  readonly text: string
  /** The position after the field. */
  readonly end: number
}

function readPlain(source: string, start: number): Field {
  let end = start
  while (end < source.length && !',\r\n'.includes(source[end] ?? '')) end++
  return { text: source.slice(start, end), end }
}

/** Null when the quote is not closed. */
function readQuoted(source: string, start: number): Field | null {
  let text = ''
  let from = start + 1
  for (;;) {
    const quote = source.indexOf('"', from)
    if (quote === -1) return null
    text += source.slice(from, quote)
    if (source[quote + 1] !== '"') return { text, end: quote + 1 }
    text += '"'
    from = quote + 2
  }
}

function lineEnds(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0
}
