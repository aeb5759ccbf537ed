/** A piece of a replacement: a text, or the number or name of a group. */
export type Piece = { text: string } | { group: number | string }

const REFERENCE = /\$(?:\$|(\d{1,3})|\{(\d{1,3}|[A-Za-z_]\w{0,31})\}|([A-Za-z_]\w{0,31}))/g

/** `$1`, `${1}`, `$name`, `${name}` stand for groups, `$$` for a dollar; any other dollar for itself. */
export function parseReplacement(replacement: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const match of replacement.matchAll(REFERENCE)) {
    const group = match[1] ?? match[2] ?? match[3]
    pieces.push({ text: replacement.slice(from, match.index) })
    pieces.push(group === undefined ? { text: '$' } : { group: /^\d/.test(group) ? Number(group) : group })
    from = match.index + match[0].length
  }
  pieces.push({ text: replacement.slice(from) })
  return pieces
}
