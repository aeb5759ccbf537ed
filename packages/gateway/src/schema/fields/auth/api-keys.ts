import { isObject } from '@portico/http/json'
import { Refusal, scalar } from '../../kit.ts'
import type { JsonObject, Schema } from '../../kit.ts'
import { locateSecret, secretJson } from '../references.ts'

/** API keys, with metadata about their owners. */

/** An API key or its hash: `sha256:` and 64 hexadecimal digits. */
export type ApiKeyEntry = {
  metadata: JsonObject
  /** Milliseconds since 1970 at which the key ends. */
  expires?: number
  disabled?: true
} & ({ key: string; keyHash?: undefined } | { key?: undefined; keyHash: string })

const keyPattern = /^[\x21-\x7e]{8,1024}$/
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const hashPattern = /^sha256:[0-9A-Fa-f]{64}$/
const expected =
  'a key of 8 to 1024 printable characters without spaces, `{key, metadata}`, `{keyHash: "sha256:<hex>", metadata}`, `{file: path}` or `{env: NAME}`'

/** One key: inline, or in its own file or environment variable. */
export function apiKeyEntry(): Schema<ApiKeyEntry> {
  return scalar<ApiKeyEntry>(
    // `sources` reads keys from files and variables before this value is used.
    (input) => (locateSecret(input) === null ? readEntry(input) : { keyHash: '', metadata: {} }),
    {
      type: 'API key',
      expected,
      json: { anyOf: [{ type: 'string', minLength: 8, maxLength: 65_536 }, secretJson, entryJson] },
      secret: true,
      refers: { to: 'contents', locate: locateSecret, expected, pem: null, read: parseApiKey },
    },
  )
}

/** Parses a value of a Secret: a key, or JSON with a key and metadata. */
export function parseApiKey(text: string): ApiKeyEntry | Refusal {
  return readEntry(text.trim())
}

/** Parses a JSON object of names and keys, each key in one of the same forms. */
export function parseApiKeys(text: string): Record<string, ApiKeyEntry> | Refusal {
  const all = parseJson(text)
  if (!isObject(all)) return new Refusal('bad_format', { detail: 'something else than a JSON object' })
  const entries: [string, ApiKeyEntry][] = []
  for (const [name, value] of Object.entries(all)) {
    const entry = readEntry(value)
    if (entry instanceof Refusal)
      return new Refusal(entry.code, { detail: `${entry.detail} at ${JSON.stringify(name)}` })
    entries.push([name, entry])
  }
  if (entries.length < 1 || entries.length > MAX_KEYS) {
    return new Refusal('out_of_range', { detail: `${entries.length} keys` })
  }
  return Object.fromEntries(entries)
}

/** Reads an entry: the text is the key itself, or a JSON object. */
function readEntry(input: unknown): ApiKeyEntry | Refusal {
  if (typeof input === 'string' && !input.startsWith('{')) {
    return keyPattern.test(input)
      ? { key: input, metadata: {} }
      : rejectKey('a key that is too short or too long, or has spaces in it')
  }
  const value = typeof input === 'string' ? parseJson(input) : input
  if (!isObject(value)) return rejectKey('neither a key nor a JSON object')
  const { key, keyHash, metadata = {}, expires, disabled = false, ...rest } = value as JsonObject
  if (Object.keys(rest).length > 0) return rejectKey(`an unknown key ${JSON.stringify(Object.keys(rest)[0])}`)
  if (!isObject(metadata) || JSON.stringify(metadata).length > MAX_METADATA) {
    return rejectKey(`metadata that is not an object of at most ${MAX_METADATA} characters`)
  }
  if (typeof disabled !== 'boolean') return rejectKey('`disabled` that is neither true nor false')
  const end = expires === undefined ? undefined : timeOf(expires)
  if (end === null) return rejectKey('an `expires` that is no time such as `2027-01-31T00:00:00Z`')
  const validity = { ...(end !== undefined && { expires: end }), ...(disabled && { disabled: true as const }) }
  if ((key === undefined) === (keyHash === undefined)) return rejectKey('not exactly one of `key` and `keyHash`')
  if (typeof key === 'string' && keyPattern.test(key)) return { key, metadata, ...validity }
  if (typeof keyHash === 'string' && hashPattern.test(keyHash))
    return { keyHash: keyHash.toLowerCase(), metadata, ...validity }
  return rejectKey(
    key === undefined ? 'an invalid `keyHash`' : 'a key that is too short or too long, or has spaces in it',
  )
}

/** Milliseconds since 1970; null unless the value is a time of RFC 3339. */
function timeOf(value: unknown): number | null {
  if (typeof value !== 'string' || !timePattern.test(value)) return null
  const time = Date.parse(value)
  return Number.isNaN(time) ? null : time
}

function rejectKey(detail: string): Refusal {
  return new Refusal('bad_format', { detail })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const MAX_KEYS = 10_000
const MAX_METADATA = 4_096

const entryJson: JsonObject = {
  type: 'object',
  additionalProperties: false,
  properties: {
    key: { type: 'string', pattern: keyPattern.source },
    keyHash: { type: 'string', pattern: hashPattern.source },
    metadata: { type: 'object' },
    expires: { type: 'string', pattern: timePattern.source },
    disabled: { type: 'boolean' },
  },
  oneOf: [{ required: ['key'] }, { required: ['keyHash'] }],
}
