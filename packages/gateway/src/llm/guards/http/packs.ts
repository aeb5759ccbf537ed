/** A text, or a part of a long one. */
export interface Piece {
  text: string
  /** The index of the text. */
  index: number
  /** The offset of the part in the text. */
  start: number
}

/** The pieces of one call. */
export type Pack = readonly Piece[]

interface PackLimits {
  maxTexts: number
  maxCharacters: number
}

/** Joins the texts of a call to one, as expressions see them. */
export const SEPARATOR = '\n'

/**
 * Distributes texts over calls within the limits. Texts that are longer than a call are cut; the parts overlap, so that
 * the service sees a finding at a cut as a whole. Blank texts are left out.
 */
export function packsOf(texts: readonly string[], { maxTexts, maxCharacters }: PackLimits): Pack[] {
  const packs: Piece[][] = []
  let open: Piece[] = []
  let length = 0
  for (const piece of piecesOf(texts, maxCharacters)) {
    const added = piece.text.length + (open.length === 0 ? 0 : SEPARATOR.length)
    if (open.length === maxTexts || length + added > maxCharacters) {
      open = []
      length = 0
    }
    if (open.length === 0) packs.push(open)
    length += piece.text.length + (open.length === 0 ? 0 : SEPARATOR.length)
    open.push(piece)
  }
  return packs
}

function* piecesOf(texts: readonly string[], longest: number): Generator<Piece> {
  for (const [index, text] of texts.entries()) {
    if (text.trim() === '') continue
    for (let start = 0; ;) {
      const end = text.length - start <= longest ? text.length : cutBefore(text, start + longest)
      yield { text: text.slice(start, end), index, start }
      if (end === text.length) break
      start = cutBefore(text, end - OVERLAP)
    }
  }
}

/** The next place at or before `at` that does not cut a surrogate pair. */
function cutBefore(text: string, at: number): number {
  const code = text.charCodeAt(at - 1)
  return code >= 0xd800 && code < 0xdc00 ? at - 1 : at
}

/** As long as the text that streams hold back for the next batch. */
const OVERLAP = 256
