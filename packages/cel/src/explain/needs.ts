import type { Environment } from '../declarations.ts'
import { isCelError } from '../error.ts'
import type { BinaryOperator, Expr } from '../parse/ast.ts'
import { parse } from '../parse/parser.ts'
import { type EvaluatePart, isConstant, partEvaluator, pathOfPart } from './evaluate-part.ts'
import type { Need, Relation, Remedy } from './remedy.ts'
import { type Examples, substituted, withExamples } from './examples.ts'

/**
 * Returns alternative remedies that would have made an expression return `wanted`, those with the fewest needs first. The
 * list is empty when no remedy is known; it has one remedy without needs when the expression did return `wanted`.
 */
export function remediesFor(
  wanted: boolean,
  source: string,
  environment: Environment,
  scope: object,
): readonly Remedy[] {
  const parsed = parse(source)
  if (!parsed.ok) return []
  const { expr } = parsed
  const evaluate = partEvaluator(source, environment, scope)
  const does = (examples: Examples): boolean => evaluate(substituted(expr, examples)) === wanted
  const remedies = new Search(source, evaluate).remedies(expr, wanted)
  return remedies.map((remedy) => withExamples(remedy, does)).filter((remedy) => remedy !== null)
}

const MOST = 8

class Search {
  readonly #source: string
  readonly #evaluate: EvaluatePart

  constructor(source: string, evaluate: EvaluatePart) {
    this.#source = source
    this.#evaluate = evaluate
  }

  remedies(expr: Expr, wanted: boolean): readonly Remedy[] {
    if (this.#evaluate(expr) === wanted) return [[]]
    switch (expr.kind) {
      case 'literal':
        return []
      case 'logic': {
        const items = expr.items.map((item) => this.remedies(item, wanted))
        // All operands must be true for `&&` to be true; one false operand makes it false. `||` is the reverse.
        return (expr.operator === '&&') === wanted ? together(items) : shortest(items.flat())
      }
      case 'unary':
        return expr.operator === '!' ? this.remedies(expr.operand, !wanted) : [[this.#whole(expr, wanted)]]
      case 'conditional':
        return shortest([
          ...together([this.remedies(expr.test, true), this.remedies(expr.yes, wanted)]),
          ...together([this.remedies(expr.test, false), this.remedies(expr.no, wanted)]),
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
    // `default(x, "") != ""` accepts any other value, so the first need is that `x` is present.
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

/** The arguments of `default(read, otherwise)`; null for any other expression. */
function defaultOf(expr: Expr): { read: Expr; otherwise: Expr } | null {
  if (expr.kind !== 'call' || expr.target !== null || expr.name !== 'default') return null
  const [read, otherwise] = expr.args
  return read === undefined || otherwise === undefined || expr.args.length > 2 ? null : { read, otherwise }
}

/** The relation that must hold for the operator to return true, and the one for false. */
type Pair = readonly [Relation, Relation]

/** Relations for a read value on the left. */
const RELATIONS: Partial<Record<BinaryOperator, Pair>> = {
  '==': ['equals', 'differs'],
  '!=': ['differs', 'equals'],
  '<': ['less', 'atLeast'],
  '<=': ['atMost', 'greater'],
  '>': ['greater', 'atMost'],
  '>=': ['atLeast', 'less'],
  in: ['oneOf', 'noneOf'],
}

/** Relations for a read value on the right. */
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

/** Combines one remedy of each item, in every combination. */
function together(items: readonly (readonly Remedy[])[]): readonly Remedy[] {
  return items.reduce<readonly Remedy[]>(
    (remedies, item) => shortest(remedies.flatMap((remedy) => item.map((more) => joined(remedy, more)))),
    [[]],
  )
}

/**
 * Joins two remedies. A need for presence is dropped when another need already constrains the value or a path beneath
 * it.
 */
function joined(remedy: Remedy, more: Remedy): Remedy {
  const all = [...remedy, ...more]
  const isSaid = (need: Need): boolean =>
    need.relation === 'present' && all.some((other) => other !== need && isBeneath(other.path, need.path))
  return all.filter((need) => !isSaid(need))
}

function isBeneath(path: readonly string[] | null, upper: readonly string[] | null): boolean {
  return path !== null && upper !== null && upper.every((name, index) => path[index] === name)
}

function shortest(remedies: readonly Remedy[]): readonly Remedy[] {
  return remedies.toSorted((one, other) => one.length - other.length).slice(0, MOST)
}
