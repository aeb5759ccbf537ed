import type { Span } from '@portico/regex'

/** One kind of text to be masked. */
export interface Rule {
  /** Its name in the trace. */
  readonly kind: string
  /** What stands in place of a match. */
  readonly mask: string
  /** Most UTF-16 code units of a match. */
  readonly longest: number
  /** By code unit; `canContain` also covers what is looked at behind a match, beyond its next character. */
  readonly canStartWith: (code: number) => boolean
  readonly canContain: (code: number) => boolean
  /**
   * Matches from this place on, in order, none overlapping another. Whether one begins at a place, and where it ends,
   * depends on the two characters before it and on `longest` and two more from there on: so a text can be searched while
   * it grows.
   */
  matches(text: string, from: number): Iterable<Span>
}

/** How far a rule looks around a match. */
export const LOOK_AROUND = 2

export function oneOf(characters: string): (code: number) => boolean {
  const codes = new Set(Array.from(characters, (character) => character.charCodeAt(0)))
  return (code) => codes.has(code)
}

export const DIGITS = '0123456789'
/** Models write hyphens and spaces that do not break, too. */
export const DASHES = '-\u2010\u2011\u2012\u2013\u2014\u2015\u2212'
export const SPACES = ' \u00a0\u2009\u202f'

/** Every place where the pattern fits and the text is what it looks like; the pattern has the flag `g`. */
export function* accepted(
  pattern: RegExp,
  isReal: (match: string) => boolean,
  { text, from }: { text: string; from: number },
): Generator<Span> {
  pattern.lastIndex = from
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const start = found.index
    const end = start + found[0].length
    const isMatch = isReal(found[0])
    if (isMatch) yield { start, end }
    // Whoever takes the matches may have used the pattern for another text.
    pattern.lastIndex = isMatch ? end : start + 1
  }
}
