import type { Environment } from '../declarations.ts'
import { resolve } from '../check/resolve.ts'
import { interpret } from '../emit/interpret.ts'
import type { Expr } from '../parse/ast.ts'
import type { Result } from '../value.ts'

/** Evaluates a part of an expression that reads only declared variables. */
export type EvaluatePart = (expr: Expr) => Result

export function partEvaluator(source: string, environment: Environment, scope: object): EvaluatePart {
  const known = new Map<Expr, Result>()
  return (expr) => {
    const before = known.get(expr)
    if (before !== undefined) return before
    const result = interpret(resolve(source, expr, environment).plan, environment.budget)(scope)
    known.set(expr, result)
    return result
  }
}

/** The path that a part reads, such as `jwt.groups` or `request.headers["x-team"]`; null for any other expression. */
export function pathOfPart(expr: Expr): readonly string[] | null {
  switch (expr.kind) {
    case 'name':
      return [expr.name]
    case 'select':
      return extended(expr.operand, expr.field)
    case 'index':
      return expr.key.kind === 'literal' && typeof expr.key.value === 'string'
        ? extended(expr.operand, expr.key.value)
        : null
    case 'literal':
    case 'call':
    case 'logic':
    case 'unary':
    case 'binary':
    case 'conditional':
    case 'list':
    case 'map':
      return null
  }
}

function extended(operand: Expr, name: string): readonly string[] | null {
  const path = pathOfPart(operand)
  return path === null ? null : [...path, name]
}

/**
 * Whether the part surely has the same value for every request: only literals, their unary operators, and lists of
 * these count.
 */
export function isConstant(expr: Expr): boolean {
  if (expr.kind === 'list') return expr.items.every(({ value }) => isConstant(value))
  return expr.kind === 'unary' ? isConstant(expr.operand) : expr.kind === 'literal'
}
