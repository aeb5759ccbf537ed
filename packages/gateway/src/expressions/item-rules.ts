/**
 * Rules for MCP servers are evaluated for tools, prompts, resources and tasks alike, but `mcp.tool` exists only for
 * tools. A deny rule that reads `mcp.tool` is about tools: for a prompt, the missing `mcp.tool` must not make the rule
 * fail, because a failed deny rule denies.
 */

export const itemKinds = ['tool', 'prompt', 'resource', 'task'] as const

/**
 * Splits a condition at its top-level `||` operators and returns the source of each operand; returns the whole source
 * when the split is not certain.
 */
export function alternativesOf(source: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < source.length; at += 1) {
    const char = source.charAt(at)
    if (char === '"' || char === "'") {
      const end = endOfText(source, at)
      if (end === -1) return [source]
      at = end
    } else if (char === '`') return [source]
    else if ('([{'.includes(char)) depth += 1
    else if (')]}'.includes(char)) depth -= 1
    // The conditional operator binds looser than `||`, and a comment may contain any character.
    else if ((char === '?' && depth === 0) || source.startsWith('//', at)) return [source]
    else if (depth === 0 && source.startsWith('||', at)) {
      parts.push(source.slice(start, at).trim())
      at += 1
      start = at + 1
    }
  }
  return [...parts, source.slice(start).trim()]
}

/** Index of the closing quote of a one-line string; -1 for strings with escapes and for triple-quoted strings. */
function endOfText(source: string, quote: number): number {
  const mark = source.charAt(quote)
  if (source.startsWith(mark.repeat(3), quote)) return -1
  const end = source.indexOf(mark, quote + 1)
  return end === -1 || source.slice(quote, end).includes('\\') ? -1 : end
}
