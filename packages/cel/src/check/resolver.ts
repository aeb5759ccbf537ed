import type { Environment } from '../environment.ts'
import type { Expr } from '../parse/ast.ts'
import type { Plan } from '../plan.ts'

/** Macro variables in sight, by name. */
export type Locals = ReadonlyMap<string, number>

export interface Resolver {
  readonly environment: Environment
  resolve(expr: Expr, locals: Locals): Plan
  /** As `resolve`, but structs are not made into values: for what is selected from them. */
  resolveOperand(expr: Expr, locals: Locals): Plan
  newLocal(): number
  /** Notes a problem; the plan that comes back fails when evaluated. */
  refuse(message: string, offset: number, suggestion?: () => string | undefined): Plan
  /** For what a lenient environment leaves to the evaluation. */
  unknown(message: string, offset: number, suggestion?: () => string | undefined): Plan
  isVariable(name: string): boolean
}
