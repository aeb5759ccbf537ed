import type { FindIncluded } from '../core/import-result.ts'
import { MOST_NODES, SourceError } from '../core/source.ts'
import { Statement } from '../core/statement.ts'
import { type DefaultUse, parseCaddyfile } from './parse.ts'
import { shownText } from './shown-text.ts'

const MOST_LEVELS = 16

/**
 * A Caddyfile after its `import` directives were replaced by snippets and files. Copies of a snippet have the positions
 * of the snippet.
 */
interface ExpandedFile {
  readonly list: readonly Statement[]
  /** The snippets without replaced arguments. */
  readonly snippets: readonly Statement[]
  /** The `import` lines of all levels, which are not in the list. */
  readonly imports: readonly Statement[]
  readonly files: readonly string[]
}

export function expandImports(list: readonly Statement[], find: FindIncluded, defaults: DefaultUse[]): ExpandedFile {
  const expansion = new Expansion(find, defaults)
  const expanded = expansion.expand(list, 0)
  const { snippets, imports, files } = expansion
  return { list: expanded, snippets, imports, files }
}

class Expansion {
  readonly snippets: Statement[] = []
  readonly imports: Statement[] = []
  readonly files: string[] = []
  readonly #blocks = new Map<string, readonly Statement[]>()
  readonly #find: FindIncluded
  readonly #defaults: DefaultUse[]
  #count = 0

  constructor(find: FindIncluded, defaults: DefaultUse[]) {
    this.#find = find
    this.#defaults = defaults
  }

  expand(list: readonly Statement[], level: number): Statement[] {
    return list.flatMap((statement) => {
      if (++this.#count > MOST_NODES) throw new SourceError(statement.at, `found more than ${MOST_NODES} directives`)
      const snippet = /^\(([^)]+)\)$/.exec(statement.name)?.[1]
      if (snippet !== undefined && statement.block !== null) {
        statement.carried()
        for (const each of statement.block) hintAll(each, 'no site imports the snippet')
        this.#blocks.set(snippet, statement.block)
        this.snippets.push(statement)
        return []
      }
      if (statement.name === 'import') return this.#imported(statement, level)
      const { name, args, at, block, text } = statement
      return block === null ? [statement] : [new Statement({ name, args, at, text, block: this.expand(block, level) })]
    })
  }

  #imported(statement: Statement, level: number): Statement[] {
    this.imports.push(statement)
    const [pattern = '', ...args] = statement.args
    if (level >= MOST_LEVELS) throw new SourceError(statement.at, 'found imports that import themselves')
    const snippet = this.#blocks.get(pattern)
    if (snippet !== undefined) {
      statement.carried()
      const block = statement.block ?? []
      return this.expand(
        snippet.flatMap((each) => withArguments(each, args, block)),
        level + 1,
      )
    }
    const sources = this.#find(pattern)
    if (typeof sources === 'string') {
      statement.notCarried(sources, true)
      return []
    }
    statement.carried()
    return sources.flatMap((source) => {
      if (!this.files.includes(source.name)) this.files.push(source.name)
      return this.expand(
        parseCaddyfile(source, this.#defaults).flatMap((each) => withArguments(each, args, [])),
        level + 1,
      )
    })
  }
}

function hintAll(statement: Statement, note: string): void {
  statement.hint(note)
  for (const each of statement.block ?? []) hintAll(each, note)
}

/** Returns copies of a statement with `{args[0]}`, `{args[:]}` and `{block}` replaced. */
function withArguments(statement: Statement, args: readonly string[], block: readonly Statement[]): Statement[] {
  if (statement.name === '{block}') return [...block]
  const fill = (text: string): string[] =>
    text === '{args[:]}'
      ? [...args]
      : [text.replaceAll(/\{args[.[](\d+)\]?\}/g, (all, index: string) => args[Number(index)] ?? all)]
  const [name = '', ...rest] = [...fill(statement.name), ...statement.args.flatMap(fill)]
  return [
    new Statement({
      ...{ name, args: rest, at: statement.at, text: shownText(name, rest) },
      block: statement.block?.flatMap((each) => withArguments(each, args, block)) ?? null,
    }),
  ]
}
