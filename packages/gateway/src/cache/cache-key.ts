import { createHash } from 'node:crypto'
import { hasLargeNumber, type Json, parseJson } from '@portico/http/json'

/**
 * The body of a request in one form: members sorted by name, no white space. Bodies with numbers that a double cannot
 * represent stay as they are, because different bodies must never become equal.
 */
export function canonicalBody(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  if (hasLargeNumber(text)) return text
  const parsed = parseJson(text)
  return parsed === null ? text : canonical(parsed.value)
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`).join()}}`
}

/** The digest of a list of texts; different lists have different digests. */
export function digestOf(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest('base64url')
}
