import type { Environment } from '../declarations.ts'
import { resolve } from '../check/resolve.ts'
import { interpret } from '../emit/interpret.ts'
import type { Expr } from '../parse/ast.ts'
import type { Result } from '../value.ts'

/** Gives the value of any part of an expression that reads nothing but declared variables. */
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

/** `jwt.groups`, `request.headers["x-team"]`: the names on the way, or null for anything else. */
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

/** Whether it is the same for every request, as far as can be seen without knowing functions. */
export function isConstant(expr: Expr): boolean {
  if (expr.kind === 'list') return expr.items.every(({ value }) => isConstant(value))
  return expr.kind === 'unary' ? isConstant(expr.operand) : expr.kind === 'literal'
}
