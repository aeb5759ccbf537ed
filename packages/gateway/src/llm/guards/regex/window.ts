import { cutPieces, findRegions, type Piece, type Region } from './regions.ts'
import { LOOK_AROUND, type Rule } from './rule.ts'

/** The longest match, in characters, that is found however a text is cut into pieces. */
export const MAX_MATCH = 256
/** The maximum number of characters held back for the end of a longer match. */
export const MAX_HELD = 16_384

/** Finds matches in a text that comes in pieces. */
export interface PieceFinder {
  /** Returns the settled pieces; null when too much text would have to be held back. */
  push(text: string): Piece[] | null
  /** Returns the remaining pieces; the next text may begin. */
  end(): Piece[]
}

/** Finds matches in texts that are released only when complete. */
export class WholeText implements PieceFinder {
  readonly #rules: readonly Rule[]
  #text = ''

  constructor(rules: readonly Rule[]) {
    this.#rules = rules
  }

  push(text: string): Piece[] {
    this.#text += text
    return []
  }

  end(): Piece[] {
    const text = this.#text
    this.#text = ''
    return cutPieces(text, findRegions(this.#rules, text, 0), { from: 0, to: text.length })
  }
}

/**
 * Finds matches in a growing text, and releases everything before the last position where an incomplete match could
 * begin. For matches of up to `MAX_MATCH` characters the pieces equal those of the whole text. A longer match is masked
 * to its end if its first `MAX_MATCH` characters match by themselves.
 */
export class Window implements PieceFinder {
  readonly #rules: readonly Rule[]
  /** The held text, preceded by released characters that rules may still inspect. */
  #text = ''
  #from = 0
  /** The text is not searched again before it has this length. */
  #nextLength = 0

  constructor(rules: readonly Rule[]) {
    this.#rules = rules
  }

  push(text: string): Piece[] | null {
    this.#text += text
    if (this.#text.length < this.#nextLength) return []
    const settled = Math.max(
      this.#from,
      withoutHalfCharacter(this.#text, settledUpTo(this.#rules, this.#text, this.#from)),
    )
    const regions = findRegions(this.#rules, this.#text, this.#from)
    const open = regions.find(({ end }) => end > settled)
    const pieces = this.#release(regions, open === undefined ? settled : Math.min(settled, open.start))
    const held = this.#text.length - this.#from
    if (held > MAX_HELD) return null
    // A long match is not searched again for every small piece.
    this.#nextLength = held > 2 * MAX_MATCH ? this.#text.length + (held >> 1) : 0
    return pieces
  }

  end(): Piece[] {
    const pieces = this.#release(findRegions(this.#rules, this.#text, this.#from), this.#text.length)
    this.#text = ''
    this.#from = 0
    this.#nextLength = 0
    return pieces
  }

  #release(regions: readonly Region[], cut: number): Piece[] {
    const pieces = cutPieces(this.#text, regions, { from: this.#from, to: cut })
    const start = Math.max(0, cut - LOOK_AROUND)
    this.#text = this.#text.slice(start)
    this.#from = cut - start
    return pieces
  }
}

/** The position before which all matches are final, whatever text follows. */
function settledUpTo(rules: readonly Rule[], text: string, from: number): number {
  let settled = text.length
  for (const rule of rules) {
    settled = Math.max(from, Math.min(settled, settledFor(rule, text, from)))
    if (settled === from) break
  }
  return settled
}

function settledFor(rule: Rule, text: string, from: number): number {
  const earliest = Math.max(from, text.length - Math.min(rule.longest, MAX_MATCH) - LOOK_AROUND)
  let at = text.length
  while (at > earliest && rule.canContain(text.charCodeAt(at - 1))) at--
  while (at < text.length && !rule.canStartWith(text.charCodeAt(at))) at++
  return at
}

/** Moves the cut so that no UTF-16 surrogate pair is split, since no receiver could decode half a pair. */
function withoutHalfCharacter(text: string, cut: number): number {
  const code = text.charCodeAt(cut - 1)
  return code >= 0xd800 && code < 0xdc00 ? cut - 1 : cut
}
