import type { Environment } from '../declarations.ts'
import { isCelError } from '../error.ts'
import type { BinaryOperator, Expr } from '../parse/ast.ts'
import { parse } from '../parse/parser.ts'
import { type EvaluatePart, isConstant, partEvaluator, pathOfPart } from './evaluate-part.ts'
import type { Need, Relation, Way } from './way.ts'
import { type Examples, substituted, withExamples } from './what-if.ts'

/**
 * What would have made an expression give `wanted`: several ways, those with the fewest needs first. None where nothing
 * would, one without needs where it gave that.
 */
export function waysTo(wanted: boolean, source: string, environment: Environment, scope: object): readonly Way[] {
  const parsed = parse(source)
  if (!parsed.ok) return []
  const { expr } = parsed
  const evaluate = partEvaluator(source, environment, scope)
  const does = (examples: Examples): boolean => evaluate(substituted(expr, examples)) === wanted
  const ways = new Search(source, evaluate).ways(expr, wanted)
  return ways.map((way) => withExamples(way, does)).filter((way) => way !== null)
}

const MOST = 8

class Search {
  readonly #source: string
  readonly #evaluate: EvaluatePart

  constructor(source: string, evaluate: EvaluatePart) {
    this.#source = source
    this.#evaluate = evaluate
  }

  ways(expr: Expr, wanted: boolean): readonly Way[] {
    if (this.#evaluate(expr) === wanted) return [[]]
    switch (expr.kind) {
      case 'literal':
        return []
      case 'logic': {
        const items = expr.items.map((item) => this.ways(item, wanted))
        // All must be true for `&&` to be; one is enough to make it false. `||` is the other way round.
        return (expr.operator === '&&') === wanted ? together(items) : shortest(items.flat())
      }
      case 'unary':
        return expr.operator === '!' ? this.ways(expr.operand, !wanted) : [[this.#whole(expr, wanted)]]
      case 'conditional':
        return shortest([
          ...together([this.ways(expr.test, true), this.ways(expr.yes, wanted)]),
          ...together([this.ways(expr.test, false), this.ways(expr.no, wanted)]),
        ])
      case 'name':
      case 'select':
      case 'index':
      case 'call':
      case 'binary':
      case 'list':
      case 'map':
        return [[this.#atom(expr, wanted)]]
    }
  }

  #atom(expr: Expr, wanted: boolean): Need {
    const path = pathOfPart(expr)
    if (path !== null) return this.#need(expr, wanted, { path, operand: expr, relation: 'equals', value: wanted })
    if (expr.kind === 'binary') return this.#comparison(expr, wanted) ?? this.#whole(expr, wanted)
    if (expr.kind === 'call') return this.#call(expr, wanted) ?? this.#whole(expr, wanted)
    return this.#whole(expr, wanted)
  }

  #comparison(expr: Expr & { kind: 'binary' }, wanted: boolean): Need | null {
    const { operator, left, right } = expr
    const isTurned = isConstant(left)
    if (!isTurned && !isConstant(right)) return null
    const [operand, constant] = isTurned ? [right, left] : [left, right]
    const withDefault = defaultOf(operand)
    const path = pathOfPart(withDefault?.read ?? operand)
    const pair = (isTurned ? TURNED : RELATIONS)[operator]
    const value = this.#evaluate(constant)
    if (path === null || pair === undefined || isCelError(value)) return null
    const relation = pair[wanted ? 0 : 1]
    const read = withDefault?.read ?? operand
    // `default(x, "") != ""` asks for any other value: that it is there comes first.
    const isMissing = withDefault !== null && isCelError(this.#evaluate(read))
    if (relation === 'differs' && isMissing && this.#evaluate(withDefault.otherwise) === value) {
      return this.#need(expr, wanted, { path, operand: read, relation: 'present', value: undefined })
    }
    return this.#need(expr, wanted, { path, operand: read, relation, value })
  }

  #call(expr: Expr & { kind: 'call' }, wanted: boolean): Need | null {
    const { target, name, args } = expr
    const [first] = args
    if (first === undefined || args.length > 1) return null
    if (target === null) {
      const path = name === 'has' ? pathOfPart(first) : null
      if (path === null) return null
      return this.#need(expr, wanted, {
        path,
        operand: first,
        relation: wanted ? 'present' : 'absent',
        value: undefined,
      })
    }
    const path = pathOfPart(target)
    const pair = TESTS.get(name)
    const value = isConstant(first) ? this.#evaluate(first) : undefined
    if (path === null || pair === undefined || value === undefined || isCelError(value)) return null
    return this.#need(expr, wanted, { path, operand: target, relation: pair[wanted ? 0 : 1], value })
  }

  #need(expr: Expr, wanted: boolean, about: Pick<Need, 'relation' | 'value' | 'path'> & { operand: Expr }): Need {
    const { operand, relation, value, path } = about
    const found = this.#evaluate(operand)
    return { ...this.#whole(expr, wanted), path, relation, value, found: isCelError(found) ? undefined : found }
  }

  #whole(expr: Expr, wanted: boolean): Need {
    const text = this.#source.slice(expr.start, expr.end)
    return { text, wanted, path: null, found: undefined, relation: null, value: undefined }
  }
}

/** The parts of `default(read, otherwise)`; null for anything else. */
function defaultOf(expr: Expr): { read: Expr; otherwise: Expr } | null {
  if (expr.kind !== 'call' || expr.target !== null || expr.name !== 'default') return null
  const [read, otherwise] = expr.args
  return read === undefined || otherwise === undefined || expr.args.length > 2 ? null : { read, otherwise }
}

/** What must hold for the operator to give true, and to give false. */
type Pair = readonly [Relation, Relation]

/** What is read stands on the left. */
const RELATIONS: Partial<Record<BinaryOperator, Pair>> = {
  '==': ['equals', 'differs'],
  '!=': ['differs', 'equals'],
  '<': ['less', 'atLeast'],
  '<=': ['atMost', 'greater'],
  '>': ['greater', 'atMost'],
  '>=': ['atLeast', 'less'],
  in: ['oneOf', 'noneOf'],
}

/** What is read stands on the right. */
const TURNED: Partial<Record<BinaryOperator, Pair>> = {
  '==': ['equals', 'differs'],
  '!=': ['differs', 'equals'],
  '<': ['greater', 'atMost'],
  '<=': ['atLeast', 'less'],
  '>': ['less', 'atLeast'],
  '>=': ['atMost', 'greater'],
  in: ['contains', 'lacks'],
}

const TESTS = new Map<string, Pair>([
  ['startsWith', ['startsWith', 'startsOtherwise']],
  ['endsWith', ['endsWith', 'endsOtherwise']],
  ['contains', ['contains', 'lacks']],
  ['matches', ['matches', 'matchesNot']],
])

/** One way of each, in every combination. */
function together(items: readonly (readonly Way[])[]): readonly Way[] {
  return items.reduce<readonly Way[]>(
    (ways, item) => shortest(ways.flatMap((way) => item.map((more) => joined(way, more)))),
    [[]],
  )
}

/** That something is there need not be said where something is said of its value. */
function joined(way: Way, more: Way): Way {
  const all = [...way, ...more]
  const isSaid = (need: Need): boolean =>
    need.relation === 'present' && all.some((other) => other !== need && isBeneath(other.path, need.path))
  return all.filter((need) => !isSaid(need))
}

function isBeneath(path: readonly string[] | null, upper: readonly string[] | null): boolean {
  return path !== null && upper !== null && upper.every((name, index) => path[index] === name)
}

function shortest(ways: readonly Way[]): readonly Way[] {
  return ways.toSorted((one, other) => one.length - other.length).slice(0, MOST)
}
