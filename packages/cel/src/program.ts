import { analyse } from './analyse.ts'
import type { Reference } from './check/references.ts'
import { generate } from './emit/generate.ts'
import type { Evaluate } from './emit/interpret.ts'
import { interpret } from './emit/interpret.ts'
import type { Environment } from './declarations.ts'
import type { Plan } from './plan.ts'
import type { Problem } from './position.ts'

export interface Program {
  readonly source: string
  readonly references: readonly Reference[]
  /**
   * Never throws. The scope has one property (or getter) for each declared variable; undefined means absent.
   * Fastest when called on the program: the function itself changes once code has been generated.
   */
  readonly evaluate: Evaluate
}

export type Compiled = { ok: true; program: Program } | { ok: false; problems: Problem[] }

/** Parses and checks now; code is generated at the first evaluation, because thousands at once would stop the world. */
export function compile(source: string, environment: Environment): Compiled {
  const { problems, references, plan } = analyse(source, environment)
  if (plan === null || problems.length > 0) return { ok: false, problems }
  return { ok: true, program: new LazyProgram(source, references, { plan, budget: environment.budget }) }
}

interface Pending {
  plan: Plan
  budget: number
}

/** `evaluate` is the generated code itself once there is some: a function in between would cost as much as the rest. */
class LazyProgram implements Program {
  readonly source: string
  readonly references: readonly Reference[]
  evaluate: Evaluate

  constructor(source: string, references: readonly Reference[], { plan, budget }: Pending) {
    this.source = source
    this.references = references
    let generated: Evaluate | undefined
    this.evaluate = (scope) => {
      generated ??= this.evaluate = backEnd(plan, budget)
      return generated(scope)
    }
  }
}

function backEnd(plan: Plan, budget: number): Evaluate {
  try {
    return generate(plan, budget)
  } catch {
    // Where code made of strings is forbidden, or the code is more than the engine takes.
    return interpret(plan, budget)
  }
}
