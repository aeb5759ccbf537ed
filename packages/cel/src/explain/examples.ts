import type { Expr } from '../parse/ast.ts'
import type { Value } from '../value.ts'
import { pathOfPart } from './evaluate-part.ts'
import type { Need, Remedy } from './remedy.ts'

/** The largest number of combinations of examples that are tried. */
const MOST_TRIED = 32

/**
 * Adds an example to each need, such that all examples together change the result. Null when no examples were found,
 * because one change may break another part. A remedy with a need for a whole part or a pattern has no examples and is
 * returned untested.
 */
export function withExamples(remedy: Remedy, does: (examples: Examples) => boolean): Remedy | null {
  if (remedy.length === 0) return remedy
  if (remedy.some(({ path, relation }) => path === null || relation === 'matches' || relation === 'matchesNot'))
    return remedy
  const needsByPath = Map.groupBy(remedy, ({ path }) => JSON.stringify(path))
  let tried: Examples[] = [new Map()]
  for (const [path, needs] of needsByPath) {
    const candidates = needs.flatMap(candidatesOf)
    tried = tried
      .flatMap((examples) => candidates.map((candidate) => new Map([...examples, [path, candidate] as const])))
      .slice(0, MOST_TRIED)
  }
  const found = tried.find(does)
  if (found === undefined) return null
  return remedy.map((need): Need => ({ ...need, example: found.get(JSON.stringify(need.path)) }))
}

/** Example values by path, as JSON; undefined removes the value. */
export type Examples = ReadonlyMap<string, Value | undefined>

/** The expression with the examples in place of the values that were read. */
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

/** Candidate values that satisfy the relation. */
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
