import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { countMembers, countNames, hasLargeNumber, type Json, parseJson } from '@portico/http/json'

/**
 * The body of a request in one form: members sorted by name, no white space. Different bodies must never become equal, so
 * these stay as they are: bodies with numbers that a double cannot represent, with several members of one name, of which
 * providers may read either, and with bytes that are not UTF-8.
 */
export function canonicalBody(bytes: Buffer): string {
  if (!isUtf8(bytes)) return `bytes ${bytes.toString('base64')}`
  const text = bytes.toString('utf8')
  if (hasLargeNumber(text)) return text
  const parsed = parseJson(text)
  if (parsed === null || countNames(text) !== countMembers(parsed.value)) return text
  return canonical(parsed.value)
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`).join()}}`
}

/** The digest of a list of texts; different lists have different digests. */
export function digestOf(parts: readonly string[]): string {
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''), 'base64url')
}

/**
 * Digests of canonical bodies. Clients mostly send equal requests as equal bytes, so the digests of the last bodies are
 * remembered by their bytes, which saves parsing them.
 */
export class BodyDigests {
  #recent = new Map<string, string>()
  #older = new Map<string, string>()

  of(bytes: Buffer): string {
    const raw = hash('sha256', bytes, 'base64url')
    const known = this.#recent.get(raw)
    if (known !== undefined) return known
    const digest = this.#older.get(raw) ?? digestOf([canonicalBody(bytes)])
    if (this.#recent.size >= MOST_DIGESTS) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(raw, digest)
    return digest
  }
}

/** Two maps of this size take about a megabyte. */
const MOST_DIGESTS = 2_048
