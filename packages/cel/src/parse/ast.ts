import type { Value } from '../value.ts'

/** An expression as written; macros are still calls. */
export type Expr = Node & {
  /** Where its own operator or name stands. */
  offset: number
  /** Of the tree beneath it. */
  depth: number
  /** All of its text, with the brackets around it. */
  start: number
  end: number
}

/** One that does not know yet how far it reaches. */
export type OpenExpr = Node & { offset: number; depth: number }

type Node =
  | { kind: 'literal'; value: Value }
  | { kind: 'name'; name: string; absolute: boolean }
  | { kind: 'select'; operand: Expr; field: string; optional: boolean }
  | { kind: 'index'; operand: Expr; key: Expr; optional: boolean }
  | { kind: 'call'; target: Expr | null; name: string; args: Expr[] }
  | { kind: 'logic'; operator: '&&' | '||'; items: Expr[] }
  | { kind: 'unary'; operator: '!' | '-'; operand: Expr }
  | { kind: 'binary'; operator: BinaryOperator; left: Expr; right: Expr }
  | { kind: 'conditional'; test: Expr; yes: Expr; no: Expr }
  | { kind: 'list'; items: { value: Expr; optional: boolean }[] }
  | { kind: 'map'; entries: { key: Expr; value: Expr; optional: boolean }[] }

export type BinaryOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%'

/** `a.b.c` as one text, or undefined for anything else. */
export function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'name') return expr.name
  if (expr.kind !== 'select' || expr.optional) return undefined
  const operand = dottedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}
