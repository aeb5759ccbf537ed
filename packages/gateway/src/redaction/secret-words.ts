import { REDACTED } from './secret-names.ts'

/** The secrets of a text, which are redacted wherever they stand in it again. */
export class SecretWords {
  readonly #words: ReadonlySet<string>

  constructor(secrets: Iterable<string>) {
    this.#words = new Set([...secrets].filter((secret) => secret.length >= SHORTEST))
  }

  redact(text: string): string {
    if (this.#words.size === 0) return text
    if (this.#words.has(text)) return REDACTED
    const redactWord = (word: string): string => (this.#words.has(word) ? REDACTED : word)
    return text.replaceAll(WORD, redactWord).replaceAll(PART, redactWord)
  }
}

/** A shorter secret may be an everyday word. */
const SHORTEST = 8
const WORD = /[^\s"'`,;()[\]{}]+/g
const PART = /[^\s"'`,;()[\]{}=:]+/g
