import type { Span } from '@portico/regex'

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
export const LOOK_AROUND = 2

export function oneOf(characters: string): (code: number) => boolean {
  const codes = new Set(Array.from(characters, (character) => character.charCodeAt(0)))
  return (code) => codes.has(code)
}

export const DIGITS = '0123456789'
/** Models also write non-breaking hyphens and spaces. */
export const DASHES = '-\u2010\u2011\u2012\u2013\u2014\u2015\u2212'
export const SPACES = ' \u00a0\u2009\u202f'

/** Every match of the pattern that `isReal` accepts; the pattern must have the flag `g`. */
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
    // The consumer of the generator may have used the pattern for another text meanwhile.
    pattern.lastIndex = isMatch ? end : start + 1
  }
}
