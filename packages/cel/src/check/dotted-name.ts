import type { Expr } from '../parse/ast.ts'

/** `a.b.c` as one text, or undefined for anything else. */
export function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'name') return expr.name
  if (expr.kind !== 'select' || expr.optional) return undefined
  const operand = dottedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}
