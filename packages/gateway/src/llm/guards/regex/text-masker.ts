import type { Span } from '@portico/regex'
import type { TextMasker } from '../guard.ts'
import type { Passage } from '../passage.ts'

/** One kind of text to be masked. */
export interface Rule {
  /** The kind's name in the trace. */
  readonly kind: string
  /** The text that replaces a match. */
  readonly mask: string
  /** The maximum length of a match, in UTF-16 code units. */
  readonly longest: number
  /**
   * Tested per code unit. `canContain` also covers the characters after a match that the rule inspects, beyond the next
   * one.
   */
  readonly canStartWith: (code: number) => boolean
  readonly canContain: (code: number) => boolean
  /**
   * Returns the matches that start at `from` or later, in order and without overlaps. The start and the end of a match
   * depend only on the two characters before the match and on the next `longest` + 2 characters, so a text can be
   * searched while it grows.
   */
  matches(text: string, from: number): Iterable<Span>
}

/** The number of characters around a match that a rule inspects. */
const LOOK_AROUND = 2

/** A range of a text that gets one mask. */
interface Region {
  start: number
  end: number
  /** The rule whose mask is used. */
  rule: Rule
  kinds: readonly string[]
}

/**
 * Finds the regions that start at `from` or later. Every rule searches the original text, so the order of rules does
 * not matter; overlapping matches become one region, named by the longest match.
 */
export function findRegions(rules: readonly Rule[], text: string, from: number): Region[] {
  const found: Region[] = []
  for (const rule of rules) {
    for (const { start, end } of rule.matches(text, from)) found.push({ start, end, rule, kinds: [rule.kind] })
  }
  // The sort is stable: equal matches keep the order of their rules.
  found.sort((left, right) => left.start - right.start || right.end - left.end)
  return merged(found)
}

function merged(found: readonly Region[]): Region[] {
  const regions: Region[] = []
  let longest = 0
  for (const next of found) {
    const last = regions.at(-1)
    const length = next.end - next.start
    if (last === undefined || next.start >= last.end) {
      regions.push(next)
      longest = length
      continue
    }
    const rule = length > longest ? next.rule : last.rule
    longest = Math.max(longest, length)
    const kinds = [...new Set([...last.kinds, ...next.kinds])]
    regions[regions.length - 1] = { start: last.start, end: Math.max(last.end, next.end), rule, kinds }
  }
  return regions
}

/** A piece of a text: either a region to mask, or the text between two regions. */
export interface Piece {
  text: string
  /** The region that this piece is; null for text that no rule matches. */
  region: Region | null
}

export function cutPieces(
  text: string,
  regions: readonly Region[],
  { from, to }: { from: number; to: number },
): Piece[] {
  const pieces: Piece[] = []
  let at = from
  for (const region of regions) {
    if (region.end > to) break
    if (region.start > at) pieces.push({ text: text.slice(at, region.start), region: null })
    pieces.push({ text: text.slice(region.start, region.end), region })
    at = region.end
  }
  if (at < to) pieces.push({ text: text.slice(at, to), region: null })
  return pieces
}

export class PlainMasker implements TextMasker {
  readonly found = new Set<string>()
  readonly #finder: PieceFinder

  constructor(rules: readonly Rule[], finder: PieceFinder = new Window(rules)) {
    this.#finder = finder
  }

  push(text: string): readonly Passage[] | null {
    const pieces = this.#finder.push(text)
    return pieces === null ? null : this.#mask(pieces)
  }

  end(): readonly Passage[] {
    return this.#mask(this.#finder.end())
  }

  #mask(pieces: readonly Piece[]): Passage[] {
    return pieces.map((piece) => ({
      text: maskPieces([piece], this.found),
      of: piece.text.length,
      isMask: piece.region !== null,
    }))
  }
}

/** Joins the pieces with masks; adds the masked kinds to `found`. */
export function maskPieces(pieces: readonly Piece[], found: Set<string>): string {
  let masked = ''
  for (const { text, region } of pieces) {
    masked += region === null ? text : region.rule.mask
    if (region !== null) for (const kind of region.kinds) found.add(kind)
  }
  return masked
}

/** The longest match, in characters, that is found however a text is cut into pieces. */
const MAX_MATCH = 256
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
