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
   * Evaluates the expression; never throws. The scope has one property or getter for each declared variable; undefined
   * means absent. Fastest when called on the program, because the property is replaced once code has been generated.
   */
  readonly evaluate: Evaluate
}

export type CompileResult = { ok: true; program: Program } | { ok: false; problems: Problem[] }

/**
 * Parses and checks at once. The first evaluations run closures, and code is generated for an expression that is evaluated
 * often, because generating takes as long as many evaluations, and thousands of expressions are seldom evaluated.
 */
export function compile(source: string, environment: Environment): CompileResult {
  const { problems, references, plan } = analyse(source, environment)
  if (plan === null || problems.length > 0) return { ok: false, problems }
  return { ok: true, program: new LazyProgram(source, references, { plan, budget: environment.budget }) }
}

interface Pending {
  plan: Plan
  budget: number
}

/** `evaluate` becomes the generated function itself, because a wrapper would cost as much as the evaluation. */
class LazyProgram implements Program {
  readonly source: string
  readonly references: readonly Reference[]
  evaluate: Evaluate

  constructor(source: string, references: readonly Reference[], { plan, budget }: Pending) {
    this.source = source
    this.references = references
    let run: Evaluate | undefined
    let evaluations = 0
    this.evaluate = (scope) => {
      if (evaluations <= INTERPRETED && evaluations++ === INTERPRETED) run = this.evaluate = backEnd(plan, budget)
      run ??= interpret(plan, budget)
      return run(scope)
    }
  }
}

/** The evaluations before code is generated. */
const INTERPRETED = 64

function backEnd(plan: Plan, budget: number): Evaluate {
  try {
    return generate(plan, budget)
  } catch {
    // The fallback where `new Function` is forbidden, or the code is too large for the engine.
    return interpret(plan, budget)
  }
}
