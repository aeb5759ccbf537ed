import type { Environment } from '../declarations.ts'
import type { Expr } from '../parse/ast.ts'
import type { Plan } from '../plan.ts'

/** Macro variables in scope, by name. */
export type Locals = ReadonlyMap<string, number>

export interface Resolver {
  readonly environment: Environment
  resolve(expr: Expr, locals: Locals): Plan
  /** Like `resolve`, but keeps a struct unconverted, because the caller selects a field from it. */
  resolveOperand(expr: Expr, locals: Locals): Plan
  newLocal(): number
  /** Reports a problem and returns a plan that fails when evaluated. */
  refuse(message: string, offset: number, suggestion?: () => string | undefined): Plan
  /** Like `refuse`, but a lenient environment reports no problem and fails at evaluation. */
  unknown(message: string, offset: number, suggestion?: () => string | undefined): Plan
  isVariable(name: string): boolean
}

export type Call = Expr & { kind: 'call' }
export type MethodCall = Call & { target: Expr }

export interface Macro {
  name: string
  /** The syntax of a call, for the reference page. */
  usage: string
  /** Numbers of arguments that select this macro; a call with another number may be a function of the same name. */
  args: readonly number[]
  summary: string
}

export interface GlobalMacro extends Macro {
  expand(resolver: Resolver, call: Call, locals: Locals): Plan
}

export interface MethodMacro extends Macro {
  expand(resolver: Resolver, call: MethodCall, locals: Locals): Plan
}
