import type { Plan } from '../../plan.ts'
import type { Result } from '../../value.ts'

/** Evaluates a node; `locals` holds the macro variables. */
export type Closure = (scope: object, locals: Result[]) => Result

export type MakeClosure = (plan: Plan) => Closure

/** One maker per kind of node; `make` builds the closures of its children. */
export type ClosureMakers<Kind extends Plan['kind']> = {
  readonly [K in Kind]: (plan: Extract<Plan, { kind: K }>, make: MakeClosure) => Closure
}
