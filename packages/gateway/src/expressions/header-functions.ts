import {
  CelError,
  type FunctionDefinition,
  HeadersView,
  listOf,
  map,
  mapOf,
  oneOf,
  overload,
  type Result,
  string,
  type Type,
  type Value,
} from '@portico/cel/declare'
import { cookieValues } from '@portico/http/text'
import { isSecretHeader, REDACTED } from '../redaction/secret-names.ts'

/** Other views of `request.headers` and `response.headers`; each function returns headers again. */
export const headerFunctions: readonly FunctionDefinition[] = [
  view('raw', listOf(string), 'Every header as the list of its lines.', (value) => linesOf(value)),
  view('join', string, 'Every header as one text, its lines joined by `,`.', (value) => linesOf(value).join(',')),
  view('split', listOf(string), 'Every header as the list of its items, cut at commas and trimmed.', (value) =>
    linesOf(value).flatMap((line) => line.split(',').map((item) => item.trim())),
  ),
  view('redacted', oneOf(string, listOf(string)), 'Headers with `<redacted>` in place of credentials.', (value, name) =>
    isSecretHeader(name) ? REDACTED : value,
  ),
  {
    name: 'cookie',
    style: 'receiver',
    minArgs: 1,
    maxArgs: 1,
    overloads: [overload([map, string], string)],
    summary: 'The value of a cookie.',
    on: HeadersView,
    call: (headers: HeadersView, name: Value): Result =>
      typeof name === 'string'
        ? cookie(headers, name)
        : new CelError('no_such_overload', 'the name of a cookie must be a string'),
  },
]

/** The value of a header: a string when it has one line, otherwise the list of its lines. */
type HeaderValue = string | readonly string[]

function view(
  name: string,
  header: Type,
  summary: string,
  change: (value: HeaderValue, headerName: string) => HeaderValue,
): FunctionDefinition {
  return {
    name,
    style: 'receiver',
    minArgs: 0,
    maxArgs: 0,
    overloads: [overload([map], mapOf(string, header))],
    summary,
    on: HeadersView,
    call: (headers: HeadersView): Result => new ChangedView(headers, change),
  }
}

class ChangedView extends HeadersView {
  readonly #headers: HeadersView
  readonly #change: (value: HeaderValue, headerName: string) => HeaderValue

  constructor(headers: HeadersView, change: (value: HeaderValue, headerName: string) => HeaderValue) {
    super()
    this.#headers = headers
    this.#change = change
  }

  get(name: string): HeaderValue | undefined {
    const value = this.#headers.get(name)
    return value === undefined ? undefined : this.#change(value, name)
  }

  keys(): Iterable<string> {
    return this.#headers.keys()
  }
}

function linesOf(value: HeaderValue): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

function cookie(headers: HeadersView, name: string): Result {
  const lines = headers.get('cookie')
  const values = new Set(lines === undefined ? [] : cookieValues(linesOf(lines), name))
  // With two cookies of that name, the gateway cannot know which cookie a backend would use.
  if (values.size > 1) return new CelError('bad_value', `several cookies are named ${name}`)
  const [value] = values
  return value ?? new CelError('no_such_key', `no such cookie: ${name}`)
}
