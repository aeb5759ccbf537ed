import type { Plan } from '../../plan.ts'
import type { Closure, ClosureMakers, MakeClosure } from './closure.ts'
import { flow } from './flow.ts'
import { operations } from './operations.ts'
import { reads } from './reads.ts'

const makers: ClosureMakers<Plan['kind']> = { ...reads, ...operations, ...flow }

/** The back end for folding constants, and for runtimes that forbid code made of strings. */
export function toClosure(plan: Plan): Closure {
  // Each maker takes the nodes it stands under, which the types cannot tell of a table.
  const make = makers[plan.kind] as (plan: Plan, make: MakeClosure) => Closure
  return make(plan, toClosure)
}
