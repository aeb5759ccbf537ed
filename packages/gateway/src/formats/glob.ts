/** Whether a pattern is the text: `*` stands for any text, everything else for itself. Takes no longer for a bad pattern. */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...pieces] = pattern.split('*')
  const last = pieces.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const piece of pieces) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
