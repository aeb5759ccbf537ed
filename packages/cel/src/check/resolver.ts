import type { Environment } from '../declarations.ts'
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

export type Call = Expr & { kind: 'call' }
export type MethodCall = Call & { target: Expr }

export interface Macro {
  name: string
  /** How it is written, for the reference. */
  usage: string
  /** Counts of arguments that make it this macro; others may be a function of the same name. */
  args: readonly number[]
  summary: string
}

export interface GlobalMacro extends Macro {
  expand(resolver: Resolver, call: Call, locals: Locals): Plan
}

export interface MethodMacro extends Macro {
  expand(resolver: Resolver, call: MethodCall, locals: Locals): Plan
}
