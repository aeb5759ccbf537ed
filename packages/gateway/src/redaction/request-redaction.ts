import { codeAt } from '@portico/http/text'
import { isSecretParameter, redact } from './redact.ts'
import { isSecretHeader, REDACTED } from './secret-names.ts'
import type { BodyRedaction } from './redact-body.ts'

type Headers = { forEach(visit: (name: string, value: string) => void): void }
type RedactedHeaders = { readonly [name: string]: string | readonly string[] }
type Values = { readonly [name: string]: unknown }

/** The redaction of recorded requests; its results contain no credentials. */
export interface RequestRedaction {
  /** Path and query. */
  target(text: string): string
  headers(headers: Headers): RedactedHeaders
  values(values: Values): Values
  /** Redacts a single text, such as an error message or the name of a tool. */
  text(text: string): string
  body: BodyRedaction
}

/** `credentials` has the headers and parameters, in lower case, that the config names as carriers of credentials. */
export function createRedaction(credentials: ReadonlySet<string>): RequestRedaction {
  const isSecret = (name: string): boolean => isSecretHeader(name) || credentials.has(name.toLowerCase())
  const redacted = (value: unknown): unknown => redact(value, [], isSecret)
  const isPlain = plainParameters((name) => isSecretParameter(name, isSecret))
  return {
    target(text) {
      if (isSimple(text)) return text
      return SECRET_SIGNS.test(text) || !isPlain(text) ? (redacted(text) as string) : text
    },
    text: (text) => (isSimple(text) ? text : (redacted(text) as string)),
    headers(headers) {
      const found = new Map<string, string | string[]>()
      let count = 0
      headers.forEach((name, value) => {
        if (++count > MAX_HEADERS) return
        const key = name.toLowerCase()
        const shown = isSecret(key) ? REDACTED : short(redacted(value) as string)
        const before = found.get(key)
        if (before === undefined) found.set(key, shown)
        else found.set(key, typeof before === 'string' ? [before, shown] : [...before, shown])
      })
      return Object.fromEntries(found)
    },
    body: { isSecret, text: (text) => redacted(text) as string },
    values(values) {
      try {
        return redacted(values) as Values
      } catch (error) {
        // Deeply nested claims can overflow the stack; the request must not fail with them.
        return { unkept: String(error) }
      }
    },
  }
}

/** Whether the text has only characters that no secret pattern needs. Most paths do, and a loop costs less than a pattern. */
function isSimple(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = codeAt(text, i)
    if (code > 0x7f || SIMPLE[code] === 0) return false
    // `i-` could be the end of `api-`, which begins a key.
    if (code === DASH && i > 0 && (codeAt(text, i - 1) | 0x20) === SMALL_I) return false
  }
  return true
}

function short(value: string): string {
  return value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}…` : value
}

/**
 * Returns a function that tells whether no query parameter has a secret name. Results are cached by name, because every
 * request with a query is checked and names are few.
 */
function plainParameters(isSecret: (name: string) => boolean): (text: string) => boolean {
  const known = new Map<string, boolean>()
  const isKnownSecret = (name: string): boolean => {
    const before = known.get(name)
    if (before !== undefined) return before
    // Clients choose the names, so the cache must be bounded.
    if (known.size >= MAX_KNOWN) known.clear()
    const found = isSecret(name)
    known.set(name, found)
    return found
  }
  return (text) => {
    let start = -1
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      // A question mark also begins a parameter, because the value of a parameter may be a URL.
      if (code === AMPERSAND || code === QUESTION_MARK) start = i + 1
      else if (code === EQUALS && start !== -1) {
        if (isKnownSecret(text.slice(start, i))) return false
        start = -1
      }
    }
    return true
  }
}

/** Characters of paths that no pattern of a secret contains; `J` is left out because of `eyJ`. */
const SIMPLE = new Uint8Array(128).map((_, code) =>
  /[A-IK-Za-z0-9/._~:+,!$'()*-]/.test(String.fromCharCode(code)) ? 1 : 0,
)
const DASH = 45
const SMALL_I = 105
const AMPERSAND = 38
const EQUALS = 61
const QUESTION_MARK = 63
const MAX_KNOWN = 1000
/** Signs of a secret outside plain query parameters: an encoded or path parameter, a user name or a token. */
const SECRET_SIGNS = /[;#%@\s]|eyJ|[aA][pP][iI]-/
const MAX_HEADERS = 64
const MAX_VALUE = 512
