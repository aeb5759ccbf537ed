import { methodMacros } from '../check/macros.ts'
import type { Environment } from '../declarations.ts'
import type { Expr } from '../parse/ast.ts'
import { childrenOf, parse } from '../parse/parser.ts'
import type { Result } from '../value.ts'
import { isConstant, partEvaluator, pathOfPart } from './evaluate-part.ts'

/** A part of an expression with what it gave; parts that are the same for every request are left out. */
export interface Part {
  /** As it is written, with brackets around it. */
  readonly text: string
  /** Offset in the source. */
  readonly start: number
  /** Of something that is read as it is: `["request", "headers", "x-team"]`. */
  readonly path: readonly string[] | null
  readonly result: Result
  readonly parts: readonly Part[]
}

/**
 * The values of all parts of an expression that has been checked; null for one that cannot be read. `isEnough` is asked
 * before each: from where it says so, parts are left out.
 */
export function partsOf(
  source: string,
  environment: Environment,
  scope: object,
  isEnough: () => boolean = () => false,
): Part | null {
  const parsed = parse(source)
  if (!parsed.ok) return null
  const evaluate = partEvaluator(source, environment, scope)
  const partOf = (expr: Expr): Part => ({
    text: source.slice(expr.start, expr.end),
    start: expr.start,
    path: pathOfPart(expr),
    result: evaluate(expr),
    parts: shownChildren(expr)
      .filter((child) => reads(child, environment) && !isEnough())
      .map(partOf),
  })
  return partOf(parsed.expr)
}

/** Names of types and of groups of functions are no values of a request. */
function reads(expr: Expr, { variables }: Environment): boolean {
  const root = pathOfPart(expr)?.[0]
  return root === undefined ? !isConstant(expr) : variables.has(root)
}

/** Of a read nothing: its text says it. Of a macro only what does not know its variable. */
function shownChildren(expr: Expr): readonly Expr[] {
  if (pathOfPart(expr) !== null) return []
  if (expr.kind !== 'call') return childrenOf(expr)
  const { target, name, args } = expr
  if (target === null) return name === 'has' ? [] : args
  if (target.kind === 'name' && target.name === 'cel') return []
  return isMethodMacro(name, args.length) ? [target] : childrenOf(expr)
}

function isMethodMacro(name: string, count: number): boolean {
  return methodMacros.some((macro) => macro.name === name && macro.args.includes(count))
}
