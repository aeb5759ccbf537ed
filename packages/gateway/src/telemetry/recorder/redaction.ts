import { isSecretHeader } from '../../formats/secret-names.ts'
import { redact, REDACTED } from '../../admin/redact.ts'
import type { RecordedHeaders, RecordValues } from './record.ts'

/** What may be stored of a request: nothing that could be a credential. */
export interface RecordRedaction {
  /** Path and query. */
  target(text: string): string
  headers(headers: { forEach(visit: (name: string, value: string) => void): void }): RecordedHeaders
  values(values: RecordValues): RecordValues
}

/** `credentials` has headers and parameters, in lower case, that the config says credentials stand in. */
export function createRedaction(credentials: ReadonlySet<string>): RecordRedaction {
  const isSecret = (name: string): boolean => isSecretHeader(name) || credentials.has(name.toLowerCase())
  const redacted = (value: unknown): unknown => redact(value, [], isSecret)
  return {
    target: (text) => (MAY_HIDE.test(text) ? (redacted(text) as string) : text),
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
    values(values) {
      try {
        return redacted(values) as RecordValues
      } catch (error) {
        // Claims can be nested deeper than a stack; traffic must not end with them.
        return { unkept: String(error) }
      }
    },
  }
}

function short(value: string): string {
  return value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}…` : value
}

/** Without a parameter, an encoded one, a user or a token there is nothing to look for: most paths are plain. */
const MAY_HIDE = /[?;#%@]|eyJ|api-key/i
const MAX_HEADERS = 64
const MAX_VALUE = 512
