import { cutPieces, findRegions, type Piece, type Region } from './regions.ts'
import { LOOK_AROUND, type Rule } from './rule.ts'

/** Longest match that is found whatever way a text is cut into pieces. */
export const MAX_MATCH = 256
/** Most of a text that is kept waiting for the end of a longer match. */
export const MAX_HELD = 16_384

/** Finds matches in a text that comes in pieces. */
export interface PieceFinder {
  /** What is settled; null when too much would have to be kept. */
  push(text: string): Piece[] | null
  /** The rest; the next text may begin. */
  end(): Piece[]
}

/** For texts of which nothing goes on before they are whole. */
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
 * Finds matches in a text that is still growing, and lets go of what cannot change any more: everything before the last
 * place where a match that is not yet whole could begin. For matches of up to `MAX_MATCH` the pieces are those of the
 * whole text. A longer match is masked as long as it goes on, if its first `MAX_MATCH` characters are one by themselves.
 */
export class Window implements PieceFinder {
  readonly #rules: readonly Rule[]
  /** What is kept, after some characters that are gone already and only looked at. */
  #text = ''
  #from = 0
  /** Not searched again before it has this length. */
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
    // A long match is not searched anew for each little piece.
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

/** Whether a match begins before this place, and where it ends, is known, whatever comes. */
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

/** Half of a character that UTF-16 writes as two would be nothing to whoever gets it. */
function withoutHalfCharacter(text: string, cut: number): number {
  const code = text.charCodeAt(cut - 1)
  return code >= 0xd800 && code < 0xdc00 ? cut - 1 : cut
}
