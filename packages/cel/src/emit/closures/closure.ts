import type { Plan } from '../../plan.ts'
import type { Result } from '../../value.ts'

/** Evaluates a node; `locals` are the variables of macros. */
export type Closure = (scope: object, locals: Result[]) => Result

export type MakeClosure = (plan: Plan) => Closure

/** One maker for each of these kinds of nodes; it is handed what makes the closures beneath. */
export type ClosureMakers<Kind extends Plan['kind']> = {
  readonly [K in Kind]: (plan: Extract<Plan, { kind: K }>, make: MakeClosure) => Closure
}
