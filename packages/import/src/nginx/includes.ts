import type { FindIncluded } from '../core/import-result.ts'
import { MOST_NODES, SourceError } from '../core/source.ts'
import type { Directive } from './directive.ts'
import { parseNginx } from './parse.ts'

const MOST_LEVELS = 8

/** The directives with those of included files in place of `include`, which is marked. */
export function expandIncludes(
  directives: readonly Directive[],
  find: FindIncluded,
): { list: Directive[]; files: string[] } {
  const files: string[] = []
  let count = 0
  const expand = (list: readonly Directive[], level: number): Directive[] =>
    list.flatMap((each) => {
      if (++count > MOST_NODES)
        throw new SourceError(each.at, `found more than ${MOST_NODES} directives with included files`)
      const [pattern] = each.args
      if (each.name !== 'include' || each.block !== null || pattern === undefined) {
        return [each.block === null ? each : each.withBlock(expand(each.block, level))]
      }
      if (level >= MOST_LEVELS) throw new SourceError(each.at, `found more than ${MOST_LEVELS} levels of includes`)
      const found = find(pattern)
      if (typeof found === 'string') {
        each.notCarried(found)
        return [each]
      }
      each.carried()
      files.push(...found.map(({ name }) => name))
      return [each, ...found.flatMap((source) => expand(parseNginx(source), level + 1))]
    })
  return { list: expand(directives, 0), files }
}
