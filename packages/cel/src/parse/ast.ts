import type { Value } from '../value.ts'

/** An expression as parsed, before macros are expanded. */
export type Expr = Node & {
  /** The offset of the operator or name of this node. */
  offset: number
  /** The depth of the tree below this node. */
  depth: number
  /** The range of the node in the source, with the parentheses around it; `end` is exclusive. */
  start: number
  end: number
}

/** An expression whose `start` and `end` are not known yet. */
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

/** Returns `a.b.c` as one name, or undefined for any other expression. */
export function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'name') return expr.name
  if (expr.kind !== 'select' || expr.optional) return undefined
  const operand = dottedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}
