/** Reads `name=value,…` with percent-encoded texts, as in W3C baggage; returns null when a part has no such form. */
export function readNameValues(text: string): Record<string, string> | null {
  const found: Record<string, string> = Object.create(null)
  for (const part of text.split(',')) {
    if (part.trim() === '') continue
    const at = part.indexOf('=')
    const name = decoded(part.slice(0, Math.max(0, at)).trim())
    const value = decoded(part.slice(at + 1).trim())
    if (at < 0 || name === null || name === '' || value === null) return null
    found[name] = value
  }
  return found
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
