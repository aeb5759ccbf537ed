import type { TextMasker } from '../guard.ts'
import { addPassage, NOTHING, type Passage, verbatim } from '../passage.ts'
import { JsonStringMasker } from './json-string-masker.ts'
import { cutPieces, findRegions, type Rule, maskPieces, MAX_HELD, type PieceFinder, Window } from './text-masker.ts'

/**
 * Masks JSON that may be cut anywhere, and leaves it JSON: every string (keys, too) is looked at by itself, as it reads
 * without escapes, and so is every number; a number with a match becomes a string. Nothing else changes by a letter.
 */
export class JsonMasker implements TextMasker {
  readonly found = new Set<string>()
  readonly #rules: readonly Rule[]
  readonly #string: JsonStringMasker
  #isInString = false
  /** A number or word, up to here. */
  #word = ''

  constructor(rules: readonly Rule[], finder: PieceFinder = new Window(rules)) {
    this.#rules = rules
    this.#string = new JsonStringMasker(finder, this.found)
  }

  push(text: string): readonly Passage[] | null {
    const masked: Passage[] = []
    for (let at = 0; at < text.length;) {
      const end = this.#isInString ? this.#string.findEnd(text, at) : endOfWord(text, at)
      const part = this.#take(text.slice(at, end))
      if (part === null) return null
      for (const passage of part) addPassage(masked, passage)
      at = end
      if (at < text.length) for (const passage of this.#pass(text.charAt(at++))) addPassage(masked, passage)
    }
    return masked
  }

  end(): readonly Passage[] {
    return this.#isInString ? this.#string.end() : this.#endWord()
  }

  #take(part: string): readonly Passage[] | null {
    if (this.#isInString) return this.#string.push(part)
    this.#word += part
    return this.#word.length > MAX_HELD ? null : NOTHING
  }

  /** A quote that begins or ends a string, or something between words. */
  #pass(character: string): readonly Passage[] {
    const before = this.end()
    if (character === '"') this.#isInString = !this.#isInString
    return [...before, ...verbatim(character)]
  }

  #endWord(): readonly Passage[] {
    const word = this.#word
    this.#word = ''
    if (word === '') return NOTHING
    const regions = findRegions(this.#rules, word, 0)
    if (regions.length === 0) return verbatim(word)
    const masked = maskPieces(cutPieces(word, regions, { from: 0, to: word.length }), this.found)
    return [{ text: JSON.stringify(masked), of: word.length, isMask: true }]
  }
}

const BETWEEN_WORDS = /["\s,:[\]{}]/g

function endOfWord(text: string, from: number): number {
  BETWEEN_WORDS.lastIndex = from
  return BETWEEN_WORDS.exec(text)?.index ?? text.length
}
