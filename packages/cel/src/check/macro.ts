import type { Expr } from '../parse/ast.ts'
import type { Plan } from '../plan.ts'
import type { Locals, Resolver } from './resolver.ts'

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
