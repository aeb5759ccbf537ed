import { codeAt } from '@portico/http/text'
import type { RecordedListener, RecordedRoute, RecordedRun } from './facts.ts'
import { AT, MAX_MICROSECONDS, OUTCOME_CODES, PROTOCOLS, SEPARATOR, VERSIONS } from './layout.ts'
import type { RecordOutcome } from './record.ts'
import type { RingWriter } from './ring.ts'

/** Writes records into a ring, in the layout of `layout.ts`. */
export class RecordWriter {
  readonly #preambles = new WeakMap<object, Preamble[]>()
  /** The preamble of the last record; the next record often has the same. */
  #last: { owner: object; backendIndex: number; preamble: Preamble } | null = null

  write(ring: RingWriter, run: RecordedRun, parts: RecordParts): void {
    const { texts } = parts
    const preamble = this.#preambleOf(run)
    const took = microseconds(run.durationMs)
    const room = AT.texts + preamble.bytes + roomFor(texts)
    const details = sizeOf(parts.details) > ring.maxBytes - room ? '' : parts.details
    const offset = ring.reserve(room + sizeOf(details))
    const { bytes, u32, f64 } = ring
    const word = offset >>> 2
    u32[word + AT.serial / 4] = parts.serial
    f64[(offset + AT.at) >>> 3] = parts.at
    f64[(offset + AT.bytesIn) >>> 3] = run.requestBytes
    f64[(offset + AT.bytesOut) >>> 3] = run.responseBytes
    u32[word + AT.took / 4] = took
    u32[word + AT.answered / 4] = parts.answered
    u32[word + AT.generation / 4] = parts.generation
    u32[word + AT.status / 4] = run.status | (OUTCOME_CODES[parts.outcome] << 16) | (parts.flags << 24)
    u32[word + AT.attempts / 4] =
      Math.min(parts.attempts, 255) |
      (indexOf(VERSIONS, run.version ?? '') << 8) |
      (indexOf(PROTOCOLS, run.protocol) << 16)
    putPreamble(u32, word + AT.texts / 4, preamble)
    const textEnd = putTexts(bytes, offset + AT.texts + preamble.bytes, texts)
    const detailBytes = details === '' ? 0 : putText(bytes, textEnd, details) - textEnd
    u32[word + AT.textBytes / 4] = textEnd - offset - AT.texts
    u32[word + AT.detailBytes / 4] = detailBytes
    ring.publish(offset, textEnd - offset + detailBytes)
  }

  /** Returns the names of listener, route and backend as a preamble, which is made once for each route and backend. */
  #preambleOf({ listener, route, backendIndex }: RecordedRun): Preamble {
    const owner = route ?? listener
    if (owner === null) return NO_NAMES
    const last = this.#last
    if (last !== null && last.owner === owner && last.backendIndex === backendIndex) return last.preamble
    let preambles = this.#preambles.get(owner)
    if (preambles === undefined) this.#preambles.set(owner, (preambles = []))
    const preamble = (preambles[backendIndex + 1] ??= createPreamble(configNames(listener, route, backendIndex)))
    this.#last = { owner, backendIndex, preamble }
    return preamble
  }
}

/** The values of a record that are not fields of the request itself. */
interface RecordParts {
  serial: number
  /** When the request began, in milliseconds since 1970. */
  at: number
  attempts: number
  generation: number
  outcome: RecordOutcome
  /** Microseconds to the head of the response of the backend, or `UNANSWERED`. */
  answered: number
  /** Bits of `FLAGS`. */
  flags: number
  /** The texts after the names of the preamble, in the order of `TEXTS`. */
  texts: readonly string[]
  /** JSON, or empty. */
  details: string
}

/** Returns the names in the preamble of a record; see the first seven entries of `TEXTS`. */
function configNames(listener: RecordedListener | null, route: RecordedRoute | null, backendIndex: number): string {
  const backend = route?.backends[backendIndex]
  const names = [listener?.bind, listener?.name, listener?.key, route?.name, route?.key, backend?.name, backend?.key]
  return names.map((name) => plainName(name ?? '') + SEPARATOR).join('')
}

/** Converts milliseconds to microseconds, within the range of the layout. */
export function microseconds(milliseconds: number): number {
  return Math.min(MAX_MICROSECONDS, Math.max(0, Math.round(milliseconds * 1000)))
}

function indexOf(list: readonly string[], text: string): number {
  const index = list.indexOf(text)
  return index === -1 ? 0 : index
}

/** Returns the name without control characters, which separate texts in a record. */
export function plainName(text: string): string {
  const short = shortened(text)
  return CONTROL.test(short) ? short.replaceAll(ALL_CONTROL, ' ') : short
}

/** Shortens a text that a client or a backend chose, because a record must not grow with it. */
export function shortened(text: string, longest = MAX_TEXT): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

/**
 * The functions below write texts into shared memory. Every request has some, and most are short: a loop over their
 * characters costs less than joining them and calling the runtime. The loops keep indexes in bounds, so the `!` are safe.
 */

/** A text at the start of many records, as 32-bit words. */
interface Preamble {
  readonly words: Uint32Array
  readonly bytes: number
}

export function createPreamble(text: string): Preamble {
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
function putText(memory: Buffer, at: number, text: string): number {
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

/** Returns the most bytes that a text takes; only long texts are measured exactly. */
function sizeOf(text: string): number {
  return text.length <= MEASURED_LENGTH ? 3 * text.length : Buffer.byteLength(text)
}

// eslint-disable-next-line no-control-regex -- the pattern is about control characters
const CONTROL = /[\0-\x1f]/
// eslint-disable-next-line no-control-regex -- the pattern is about control characters
const ALL_CONTROL = /[\0-\x1f]/g
const MAX_TEXT = 256
const SEPARATOR_CODE = SEPARATOR.charCodeAt(0)
const SHORT = 96
const MEASURED_LENGTH = 512
const NO_NAMES = createPreamble(configNames(null, null, -1))
