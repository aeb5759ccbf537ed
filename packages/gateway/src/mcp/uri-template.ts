/**
 * Matches a URI against the literal parts of a template; any text matches an expression `{…}`. Returns the number of
 * literal characters, or null when the URI does not match.
 */
export function matchTemplate(template: string, uri: string): number | null {
  const literals = literalsOf(template)
  const [first = '', ...rest] = literals
  const last = rest.pop()
  if (last === undefined) return uri === first ? first.length : null
  if (!uri.startsWith(first) || !uri.endsWith(last) || uri.length < first.length + last.length) return null
  let at = first.length
  const end = uri.length - last.length
  // The first occurrence leaves the most room for the other literals.
  for (const literal of rest) {
    const found = uri.indexOf(literal, at)
    if (found === -1 || found + literal.length > end) return null
    at = found + literal.length
  }
  return literals.reduce((sum, { length }) => sum + length, 0)
}

/** Splits a template into its literals, one more than it has expressions; an unmatched brace is literal text. */
function literalsOf(template: string): string[] {
  const literals: string[] = []
  let start = 0
  for (;;) {
    const open = template.indexOf('{', start)
    const close = open === -1 ? -1 : template.indexOf('}', open)
    if (close === -1) return [...literals, template.slice(start)]
    literals.push(template.slice(start, open))
    start = close + 1
  }
}
