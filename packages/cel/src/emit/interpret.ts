import type { Plan } from '../plan.ts'
import { meter } from '../run/meter.ts'
import type { Result } from '../value.ts'
import { thrown } from './answers.ts'
import { toClosure } from './closures/to-closure.ts'

/** Never throws. The scope has one property (or getter) for each declared variable; undefined means absent. */
export type Evaluate = (scope: object) => Result

export function interpret(plan: Plan, budget: number): Evaluate {
  const closure = toClosure(plan)
  return (scope) => {
    // The host may evaluate while it is being read.
    const before = meter.left
    meter.left = budget
    try {
      return closure(scope, [])
    } catch (error) {
      return thrown(error)
    } finally {
      meter.left = before
    }
  }
}
