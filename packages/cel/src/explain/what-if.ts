import type { Expr } from '../parse/ast.ts'
import type { Value } from '../value.ts'
import { pathOfPart } from './evaluate-part.ts'
import type { Need, Way } from './way.ts'

/** More are not tried. */
const MOST_TRIED = 32

/**
 * The way with an example for each need, such that all of them together do it. Null where none was found: changing one
 * thing may spoil another part. Needs of whole parts have no example, so that such a way is believed.
 */
export function withExamples(way: Way, does: (examples: Examples) => boolean): Way | null {
  if (way.length === 0) return way
  if (way.some(({ path, relation }) => path === null || relation === 'matches' || relation === 'matchesNot')) return way
  const needsByPath = Map.groupBy(way, ({ path }) => JSON.stringify(path))
  let tried: Examples[] = [new Map()]
  for (const [path, needs] of needsByPath) {
    const candidates = needs.flatMap(candidatesOf)
    tried = tried
      .flatMap((examples) => candidates.map((candidate) => new Map([...examples, [path, candidate] as const])))
      .slice(0, MOST_TRIED)
  }
  const found = tried.find(does)
  if (found === undefined) return null
  return way.map((need): Need => ({ ...need, example: found.get(JSON.stringify(need.path)) }))
}

/** By path, as JSON; undefined takes away what is there. */
export type Examples = ReadonlyMap<string, Value | undefined>

/** The expression as if something else had been read. */
export function substituted(expr: Expr, examples: Examples): Expr {
  const change = (inner: Expr): Expr => substituted(inner, examples)
  const { path, isAsked } = readOf(expr)
  const key = path === null ? '' : JSON.stringify(path)
  if (examples.has(key)) {
    const value = examples.get(key)
    if (isAsked) return { ...expr, kind: 'literal', value: value !== undefined }
    return value === undefined ? expr : { ...expr, kind: 'literal', value }
  }
  if (path !== null) return expr
  switch (expr.kind) {
    case 'call':
      return { ...expr, target: expr.target && change(expr.target), args: expr.args.map(change) }
    case 'logic':
      return { ...expr, items: expr.items.map(change) }
    case 'unary':
      return { ...expr, operand: change(expr.operand) }
    case 'binary':
      return { ...expr, left: change(expr.left), right: change(expr.right) }
    case 'conditional':
      return { ...expr, test: change(expr.test), yes: change(expr.yes), no: change(expr.no) }
    case 'literal':
    case 'name':
    case 'select':
    case 'index':
    case 'list':
    case 'map':
      return expr
  }
}

function readOf(expr: Expr): { path: readonly string[] | null; isAsked: boolean } {
  if (expr.kind !== 'call' || expr.target !== null || expr.name !== 'has') {
    return { path: pathOfPart(expr), isAsked: false }
  }
  return { path: expr.args[0] === undefined ? null : pathOfPart(expr.args[0]), isAsked: true }
}

/** Values that stand so to the one that is named. */
function candidatesOf({ relation, value, found }: Need): (Value | undefined)[] {
  switch (relation) {
    case 'equals':
    case 'atMost':
    case 'atLeast':
    case 'startsWith':
    case 'endsWith':
      return [value]
    case 'oneOf':
      return Array.isArray(value) ? (value as Value[]).slice(0, 8) : []
    case 'contains':
      return [...(typeof value === 'string' ? [value] : []), ...(value === undefined ? [] : [[value]])]
    case 'less':
      return typeof value === 'number' ? [value - 1] : []
    case 'greater':
      return typeof value === 'number' ? [value + 1] : []
    case 'differs':
    case 'noneOf':
    case 'lacks':
    case 'startsOtherwise':
    case 'endsOtherwise':
      return [typeof found === 'number' ? -1 : Array.isArray(found) ? [] : typeof found === 'boolean' ? !found : '-']
    case 'present':
      return ['-']
    case 'absent':
      return [undefined]
    case 'matches':
    case 'matchesNot':
    case null:
      return []
  }
}
