/** Deeper parts are printed on one line, because indenting hostile nesting would exhaust memory. */
const MAX_DEPTH = 32

/** Formats a JSON value as indented lines. */
export function jsonLines(value: unknown): string[] {
  const lines: string[] = []
  write(value, { lines, indent: '', before: '', after: '' })
  return lines
}

/** Formats a value as one line; values that nest too deep are replaced. */
export function compactJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch {
    return '"(nested too deep to show)"'
  }
}

interface JsonCursor {
  lines: string[]
  indent: string
  before: string
  after: string
}

function write(value: unknown, { lines, indent, before, after }: JsonCursor): void {
  const isList = Array.isArray(value)
  const isNested = typeof value === 'object' && value !== null
  const members = isNested ? Object.entries(value) : []
  if (members.length === 0 || indent.length >= MAX_DEPTH * 2) {
    lines.push(`${indent}${before}${compactJson(value)}${after}`)
    return
  }
  lines.push(`${indent}${before}${isList ? '[' : '{'}`)
  for (const [at, [name, member]] of members.entries()) {
    write(member, {
      lines,
      indent: `${indent}  `,
      before: isList ? '' : `${JSON.stringify(name)}: `,
      after: at === members.length - 1 ? '' : ',',
    })
  }
  lines.push(`${indent}${isList ? ']' : '}'}${after}`)
}
