import type { TextMasker } from '../guard.ts'
import type { Passage } from '../passage.ts'
import type { Piece } from './regions.ts'
import type { Rule } from './rule.ts'
import { type PieceFinder, Window } from './window.ts'

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
