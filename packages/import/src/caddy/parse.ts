import { MOST_DEPTH, SourceError, type SourcePosition, type SourceText } from '../core/source.ts'
import { Statement } from '../core/statement.ts'
import { shownText } from './shown-text.ts'
import { type Token, tokensOf } from './tokens.ts'

/** An environment variable whose default is used, because the importer does not know the variable's value. */
export interface DefaultUse {
  readonly name: string
  readonly at: SourcePosition
}

/**
 * Parses a Caddyfile into statements and leaves `import` directives in place. Adds each used default of a variable to
 * `defaults`.
 */
export function parseCaddyfile(source: SourceText, defaults: DefaultUse[]): Statement[] {
  const lines = source.text.split('\n').map((line, index) =>
    line.replaceAll(/\{\$(\w+):([^}]*)\}/g, (_all, name: string, value: string, offset: number) => {
      defaults.push({ name, at: { file: source.name, line: index + 1, column: offset + 1 } })
      return value
    }),
  )
  const tokens = tokensOf({ name: source.name, text: lines.join('\n') })
  return readBlock(new Cursor(tokens), 0)
}

class Cursor {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get next(): Token | undefined {
    return this.#tokens[this.#at]
  }

  take(): Token | undefined {
    return this.#tokens[this.#at++]
  }
}

function readBlock(cursor: Cursor, depth: number, open: Token | null = null): Statement[] {
  const list: Statement[] = []
  for (;;) {
    const first = cursor.take()
    if (first === undefined) {
      if (open !== null) throw new SourceError(open.at, 'found { without its }')
      return list
    }
    if (isBrace(first, '}')) {
      if (open === null) throw new SourceError(first.at, 'found } without its {')
      return list
    }
    if (depth >= MOST_DEPTH) throw new SourceError(first.at, `found more than ${MOST_DEPTH} levels`)
    // The block of global options has no name before its brace.
    if (isBrace(first, '{')) {
      const block = readBlock(cursor, depth + 1, first)
      list.push(new Statement({ name: '{', args: [], at: first.at, block, text: 'global options' }))
      continue
    }
    const words = [first.text]
    let [line, last, block] = [first.line, first, null as Statement[] | null]
    for (let next = cursor.next; next !== undefined; next = cursor.next) {
      // The addresses of a site may continue on the next line after a comma.
      const isSameLine = next.line === line || (last.text.endsWith(',') && depth === 0)
      if (!isSameLine || isBrace(next, '}')) break
      cursor.take()
      line = next.line
      last = next
      const after = cursor.next
      if (isBrace(next, '{') && (after === undefined || after.line !== line)) {
        block = readBlock(cursor, depth + 1, next)
        break
      }
      words.push(next.text)
    }
    const [name = '', ...args] = words
    list.push(new Statement({ name, args, at: first.at, block, text: shownText(name, args) }))
  }
}

function isBrace({ text, isQuoted }: Token, brace: string): boolean {
  return text === brace && !isQuoted
}

/**
 * Adds the braces that a file with one site may leave out: the first line has the addresses of the site, and the other
 * lines are its directives.
 */
export function withSites(list: readonly Statement[]): readonly Statement[] {
  const first = list.findIndex(({ name }) => name !== '{')
  const head = list[first]
  if (head === undefined || head.block !== null) return list
  const { name, args, at, text } = head
  const rest = list.slice(first + 1)
  return [...list.slice(0, first), new Statement({ name, args, at, text, block: rest })]
}
