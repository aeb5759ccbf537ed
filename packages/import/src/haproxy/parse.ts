import { checkSize, MOST_NODES, SourceError, type SourceText } from '../core/source.ts'
import { Statement } from '../core/statement.ts'

/** A section of a HAProxy config: its first line, such as `frontend web`, and the lines after it. */
export interface Section {
  readonly head: Statement
  /** The keyword of the section, such as `frontend` or `defaults`. */
  readonly kind: string
  readonly name: string
  readonly lines: readonly Statement[]
}

const SECTIONS = new Set([
  ...['global', 'defaults', 'frontend', 'backend', 'listen', 'userlist', 'peers', 'resolvers', 'program', 'mailers'],
  ...['http-errors', 'cache', 'ring', 'fcgi-app', 'log-forward', 'log-profile', 'crt-store', 'traces', 'acme'],
])

/** Parses a HAProxy config into sections. Throws a `SourceError` when the text is not valid. */
export function parseHaproxy(source: SourceText): Section[] {
  checkSize(source)
  const sections: { head: Statement; kind: string; name: string; lines: Statement[] }[] = []
  let count = 0
  for (const [index, line] of source.text.split('\n').entries()) {
    const at = { file: source.name, line: index + 1, column: line.search(/\S|$/) + 1 }
    const words = wordsOf(line, (column, message) => new SourceError({ ...at, column }, message))
    const [name, ...args] = words
    // A blank line or a comment has no words.
    if (name === undefined) continue
    if (++count > MOST_NODES) throw new SourceError(at, `found more than ${MOST_NODES} lines`)
    const statement = new Statement({ name, args, at, block: null, text: shownText(name, args) })
    if (SECTIONS.has(name)) sections.push({ head: statement, kind: name, name: args[0] ?? '', lines: [] })
    else {
      const last = sections.at(-1)
      if (last === undefined)
        throw new SourceError(
          at,
          `found ${JSON.stringify(name).slice(0, 60)} before any section, expected global, defaults, frontend, backend or listen`,
        )
      last.lines.push(statement)
    }
  }
  return sections
}

/** Splits a line into words. Handles quotes, backslashes and comments as HAProxy does. */
export function wordsOf(line: string, problem: (column: number, message: string) => Error): string[] {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  let quoteAt = 0
  for (let index = 0; index < line.length; index++) {
    const sign = line[index] ?? ''
    if (sign === '\\' && quote !== "'") {
      const next = line[++index]
      if (next === undefined) throw problem(index, 'found a backslash at the end of the line')
      word = (word ?? '') + (ESCAPES[next] ?? (quote !== '' && !'"\\$'.includes(next) ? `\\${next}` : next))
    } else if (quote !== '') {
      if (sign === quote) quote = ''
      else word = (word ?? '') + sign
    } else if (sign === '"' || sign === "'") {
      quote = sign
      quoteAt = index + 1
      word ??= ''
    } else if (sign === '#') break
    else if (/\s/.test(sign)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + sign
  }
  if (quote !== '') throw problem(quoteAt, 'found a quoted text without its end')
  if (word !== null) words.push(word)
  return words
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n' }

/** Lines whose arguments the import report may show. Arguments of other lines may contain secrets. */
const PUBLIC = new Set([
  ...SECTIONS,
  ...[
    'mode',
    'bind',
    'balance',
    'option',
    'timeout',
    'use_backend',
    'default_backend',
    'redirect',
    'monitor-uri',
    'maxconn',
  ],
  ...['retries', 'retry-on', 'log', 'daemon', 'nbthread', 'chroot', 'errorfile', 'compression', 'cookie'],
])
/** The number of arguments that the import report may show, for lines whose other arguments may contain secrets. */
const SHOWN: Readonly<Record<string, number>> = {
  ...{ server: 2, acl: 2, 'http-request': 2, 'http-response': 2, stats: 1, 'default-server': 0, 'server-template': 3 },
  ...{ 'tcp-request': 2, 'http-check': 1, filter: 1, 'stick-table': 2, stick: 1 },
}

function shownText(name: string, args: readonly string[]): string {
  return [name, ...(PUBLIC.has(name) ? args : args.slice(0, SHOWN[name] ?? 0))].join(' ')
}
