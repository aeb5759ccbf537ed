import type { Plan } from '../../plan.ts'
import type { Closure, ClosureMakers, MakeClosure } from './closure.ts'
import { flow } from './flow.ts'
import { operations } from './operations.ts'
import { reads } from './reads.ts'

const makers: ClosureMakers<Plan['kind']> = { ...reads, ...operations, ...flow }

/** The back end for constant folding, and for runtimes that forbid `new Function`. */
export function toClosure(plan: Plan): Closure {
  // The table's type cannot express that each maker gets the node kind of its key.
  const make = makers[plan.kind] as (plan: Plan, make: MakeClosure) => Closure
  return make(plan, toClosure)
}
