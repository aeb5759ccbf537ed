/** The filter as people write it: `status:>=400 route:chat since:15m`. Each word is a parameter of the admin API. */
interface Filter {
  readonly terms: readonly FilterTerm[]
  /** Words that are no term, as written. */
  readonly problems: readonly string[]
}

export interface FilterTerm {
  readonly name: FilterName
  readonly value: string
}

type FilterName = (typeof FILTER_NAMES)[number]

export const FILTER_NAMES = [
  'outcome',
  'status',
  'route',
  'policy',
  'key',
  'model',
  'tool',
  'shadow',
  'id',
  'since',
  'until',
  'expression',
] as const

export function parseFilter(text: string): Filter {
  const terms: FilterTerm[] = []
  const problems: string[] = []
  for (const [word] of text.matchAll(WORD)) {
    const [, name = '', quoted, plain = ''] = TERM.exec(word) ?? []
    const value = quoted === undefined ? plain : quoted.replaceAll(/\\(["\\])/g, '$1')
    if (isName(name) && value !== '') terms.push({ name, value })
    else problems.push(word)
  }
  return { terms, problems }
}

/** A word, with blanks where it has quotes. */
const WORD = /(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g
const TERM = /^(\w+):(?:"((?:[^"\\]|\\.)*)"|([^"]*))$/

export function printFilter(terms: readonly FilterTerm[]): string {
  return terms.map(({ name, value }) => `${name}:${printValue(value)}`).join(' ')
}

function printValue(value: string): string {
  return /^[^\s"\\]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, '\\$&')}"`
}

/** The same filter with one more word, in place of the one of that name. */
export function withTerm(text: string, name: FilterName, value: string): string {
  const { terms } = parseFilter(text)
  return printFilter([...terms.filter((term) => term.name !== name), { name, value }])
}

/** Requests that went to a backend. */
export function backendFilter(name: string): string {
  return printFilter([{ name: 'expression', value: `backend.name == ${JSON.stringify(name)}` }])
}

export function withoutTerm(text: string, name: FilterName): string {
  return printFilter(parseFilter(text).terms.filter((term) => term.name !== name))
}

export function filterParameters({ terms }: Filter): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const { name, value } of terms) parameters.append(name, value)
  return parameters
}

function isName(name: string): name is FilterName {
  return (FILTER_NAMES as readonly string[]).includes(name)
}
