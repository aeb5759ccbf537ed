import { CelError, noSuchOverload } from '../error.ts'
import { typeName } from '../run/type-of.ts'
import { HeadersView } from '../value.ts'
import type { Result, Value } from '../value.ts'
import { method } from './define.ts'

type Lines = string | readonly string[]

export const headerFunctions = [
  onHeaders('join', 0, 'The same headers; several lines of one name are joined by commas.', (headers) =>
    changed(headers, (_name, lines) => asList(lines).join(',')),
  ),
  onHeaders('raw', 0, 'The same headers; each name has the list of its lines.', (headers) =>
    changed(headers, (_name, lines) => asList(lines)),
  ),
  onHeaders('split', 0, 'The same headers; each name has the list of its values, cut at commas.', (headers) =>
    changed(headers, (_name, lines) => asList(lines).flatMap((line) => line.split(',').map((part) => part.trim()))),
  ),
  onHeaders('redacted', 0, 'The same headers, without credentials.', (headers) =>
    changed(headers, (name, lines) => (CREDENTIALS.has(name) ? '<redacted>' : lines)),
  ),
  onHeaders('cookie', 1, 'The value of a cookie.', (headers, name) => {
    if (typeof name !== 'string') return noSuchOverload(`cookie(${typeName(name)})`)
    return findCookie(asList(headers.get('cookie') ?? []), name) ?? new CelError('no_such_key', `no such key: ${name}`)
  }),
]

const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key', 'api-key'])

function onHeaders(name: string, arity: number, summary: string, call: (headers: HeadersView, arg: Value) => Result) {
  return method(name, arity, summary, call, { on: HeadersView })
}

function changed(headers: HeadersView, change: (name: string, lines: Lines) => Lines): HeadersView {
  return new ChangedHeaders(headers, change)
}

/** Nothing is computed for headers that nobody reads. */
class ChangedHeaders extends HeadersView {
  readonly #headers: HeadersView
  readonly #change: (name: string, lines: Lines) => Lines

  constructor(headers: HeadersView, change: (name: string, lines: Lines) => Lines) {
    super()
    this.#headers = headers
    this.#change = change
  }

  get(name: string): Lines | undefined {
    const lines = this.#headers.get(name)
    return lines === undefined ? undefined : this.#change(name, lines)
  }

  keys(): Iterable<string> {
    return this.#headers.keys()
  }
}

function asList(lines: Lines): readonly string[] {
  return typeof lines === 'string' ? [lines] : lines
}

function findCookie(lines: readonly string[], name: string): string | undefined {
  for (const pair of lines.flatMap((line) => line.split(';'))) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}
