import type { Plan } from '../plan.ts'
import { meter } from '../run/meter.ts'
import type { Result } from '../value.ts'
import { errorOfThrown } from './errors.ts'
import { toClosure } from './closures/to-closure.ts'

/** Never throws. The scope has one property (or getter) for each declared variable; undefined means absent. */
export type Evaluate = (scope: object) => Result

export function interpret(plan: Plan, budget: number): Evaluate {
  const closure = toClosure(plan)
  return (scope) => {
    // A host getter may start another evaluation, so the budget is saved and restored.
    const before = meter.left
    meter.left = budget
    try {
      return closure(scope, [])
    } catch (error) {
      return errorOfThrown(error)
    } finally {
      meter.left = before
    }
  }
}
