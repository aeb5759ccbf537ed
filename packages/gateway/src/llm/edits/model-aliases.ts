/** The provider's model for the name that a client used: an exact alias first, then patterns, the longest first. Applied once. */
export function createAliases(aliases: Readonly<Record<string, string>> = {}): (model: string) => string {
  const exact = new Map(Object.entries(aliases))
  const patterns = [...exact]
    .filter(([name]) => name.includes('*'))
    .map(([name, model]) => ({ length: name.length, parts: name.split('*'), model }))
    .sort((a, b) => b.length - a.length)
  if (exact.size === 0) return (model) => model
  return (model) => exact.get(model) ?? patterns.find(({ parts }) => matches(parts, model))?.model ?? model
}

/** Each part in its order, the first and the last at the ends; what a `*` takes does not matter, so the first find will do. */
function matches(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
