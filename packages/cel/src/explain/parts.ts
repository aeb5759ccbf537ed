import { methodMacros } from '../check/macros.ts'
import type { Environment } from '../declarations.ts'
import type { Expr } from '../parse/ast.ts'
import { childrenOf, parse } from '../parse/parser.ts'
import type { Result } from '../value.ts'
import { isConstant, partEvaluator, pathOfPart } from './evaluate-part.ts'

/** A part of an expression with its value. Parts that are the same for every request are left out. */
export interface Part {
  /** The source of the part, with the parentheses around it. */
  readonly text: string
  /** Offset in the source. */
  readonly start: number
  /** The path that the part reads, such as `["request", "headers", "x-team"]`; null when it computes something. */
  readonly path: readonly string[] | null
  readonly result: Result
  readonly parts: readonly Part[]
}

/**
 * Returns the values of all parts of a checked expression; null when the source cannot be parsed. `isEnough` is called
 * before each part; once it returns true, the remaining parts are left out.
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

/** Whether the part has a value that depends on the request. Names of types and namespaces have none. */
function reads(expr: Expr, { variables }: Environment): boolean {
  const root = pathOfPart(expr)?.[0]
  return root === undefined ? !isConstant(expr) : variables.has(root)
}

/**
 * Children that are shown: none for a plain read, because its text says enough; for a macro only those without its
 * variable.
 */
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
