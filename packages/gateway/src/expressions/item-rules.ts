/**
 * Rules over what MCP servers offer are asked about tools, prompts, resources and tasks alike, and `mcp.tool` is there
 * only for tools. A deny rule that reads `mcp.tool` means tools: for a prompt it must not fail, and so deny, for want of one.
 */

export const itemKinds = ['tool', 'prompt', 'resource', 'task'] as const

/** The parts of a condition of which one must hold, as written; only itself where that cannot be told for sure. */
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
    // A choice binds looser than `||`, and a comment may hold anything.
    else if ((char === '?' && depth === 0) || source.startsWith('//', at)) return [source]
    else if (depth === 0 && source.startsWith('||', at)) {
      parts.push(source.slice(start, at).trim())
      at += 1
      start = at + 1
    }
  }
  return [...parts, source.slice(start).trim()]
}

/** Where a text of one line ends; -1 for the forms that escape or span lines. */
function endOfText(source: string, quote: number): number {
  const mark = source.charAt(quote)
  if (source.startsWith(mark.repeat(3), quote)) return -1
  const end = source.indexOf(mark, quote + 1)
  return end === -1 || source.slice(quote, end).includes('\\') ? -1 : end
}
