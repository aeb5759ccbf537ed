import { REDACTED } from '../admin/redact.ts'

/** Secrets of a text, which are not shown in its other places either. */
export class HiddenWords {
  readonly #words: ReadonlySet<string>

  constructor(secrets: Iterable<string>) {
    this.#words = new Set([...secrets].filter((secret) => secret.length >= SHORTEST))
  }

  without(text: string): string {
    if (this.#words.size === 0) return text
    if (this.#words.has(text)) return REDACTED
    const hide = (word: string): string => (this.#words.has(word) ? REDACTED : word)
    return text.replaceAll(WORD, hide).replaceAll(PART, hide)
  }
}

/** What is shorter is a word of everyday. */
const SHORTEST = 8
const WORD = /[^\s"'`,;()[\]{}]+/g
const PART = /[^\s"'`,;()[\]{}=:]+/g
