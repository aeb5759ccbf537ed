/** Deeper parts stand on one line: indenting what a hostile token nests would take more memory than there is. */
const MAX_DEPTH = 32

/** A value of JSON as indented lines. */
export function jsonLines(value: unknown): string[] {
  const lines: string[] = []
  write(value, { lines, indent: '', before: '', after: '' })
  return lines
}

/** One line, also for values that nest too deep to be written. */
export function compactJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch {
    return '"(nested too deep to show)"'
  }
}

interface Place {
  lines: string[]
  indent: string
  before: string
  after: string
}

function write(value: unknown, { lines, indent, before, after }: Place): void {
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
