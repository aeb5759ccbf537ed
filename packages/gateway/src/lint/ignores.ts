import type { FindingLocation } from './locate.ts'

/** A comment `# portico-lint-ignore <code> <reason>`. */
interface IgnoreComment {
  readonly code: string
  readonly reason: string
  readonly line: number
  readonly column: number
  /** The line whose findings the comment ignores. */
  readonly target: number
}

/** Finds the comments of a text. A comment at the end of a line is about that line; otherwise about the next line. */
export function readIgnores(text: string): IgnoreComment[] {
  if (!text.includes(MARK)) return []
  const lines = text.split('\n')
  return lines.flatMap((content, index) => {
    const found = COMMENT.exec(content)
    if (found === null) return []
    const [, before = '', code = '', reason = ''] = found
    const isOwnLine = before.trim() === ''
    const next = lines.findIndex((other, at) => at > index && other.trim() !== '' && !other.trim().startsWith('#'))
    const target = !isOwnLine ? index + 1 : next === -1 ? 0 : next + 1
    return [{ code, reason: reason.trim(), line: index + 1, column: before.length + 1, target }]
  })
}

const MARK = 'portico-lint-ignore'
const COMMENT = new RegExp(`^(|.*?\\s)#\\s*${MARK}(?:[ \\t]+([\\w-]+))?[ \\t]*(.*)$`)

export function ignores(
  { code, target }: IgnoreComment,
  finding: { code: string; location: FindingLocation },
): boolean {
  return finding.code === code && finding.location.line === target
}
