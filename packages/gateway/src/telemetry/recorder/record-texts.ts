import { codeAt } from '@portico/http/text'
import { SEPARATOR } from './layout.ts'

/**
 * Writes texts into shared memory. Every request has some, and most are short: a loop over their characters costs less than
 * joining them and calling the runtime. The loops keep indexes in bounds, so the `!` are safe.
 */

/** A text at the start of many records, as 32-bit words. */
export interface Preamble {
  readonly words: Uint32Array
  readonly bytes: number
}

export function preambleOf(text: string): Preamble {
  const bytes = Buffer.from(text)
  const words = new Uint32Array((bytes.length + 3) >>> 2)
  new Uint8Array(words.buffer).set(bytes)
  return { words, bytes: bytes.length }
}

/** Writes a preamble; up to three bytes after it are overwritten too. */
export function putPreamble(memory: Uint32Array, at: number, { words }: Preamble): void {
  for (let i = 0; i < words.length; i++) memory[at + i] = words[i]!
}

/** Writes a text and returns the offset after it. */
export function putText(memory: Buffer, at: number, text: string): number {
  const { length } = text
  if (length > SHORT) return at + memory.write(text, at, 'utf8')
  let bits = 0
  for (let i = 0; i < length; i++) bits |= memory[at + i] = codeAt(text, i)
  return bits < 0x80 ? at + length : at + memory.write(text, at, 'utf8')
}

/** Writes texts with separators between them, and returns the offset after the last one. */
export function putTexts(memory: Buffer, at: number, texts: readonly string[]): number {
  let end = at
  for (let i = 0; i < texts.length; i++) {
    if (i > 0) memory[end++] = SEPARATOR_CODE
    end = putText(memory, end, texts[i]!)
  }
  return end
}

/** Returns the most bytes that the texts and their separators take. */
export function roomFor(texts: readonly string[]): number {
  let room = texts.length
  for (let i = 0; i < texts.length; i++) room += sizeOf(texts[i]!)
  return room
}

export function sizeOf(text: string): number {
  return text.length <= WORTH_A_LOOK ? 3 * text.length : Buffer.byteLength(text)
}

/** Shortens a text that a client or a backend chose, because a record must not grow with it. */
export function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

const MAX_TEXT = 256
const SEPARATOR_CODE = SEPARATOR.charCodeAt(0)
const SHORT = 96
const WORTH_A_LOOK = 512
