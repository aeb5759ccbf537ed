import { compile, createEnvironment, type Environment, type Program, reads, type Result } from '@portico/cel'
import { type ExpressionPhase, variablesByPhase } from '../../expressions/variables.ts'
import { gatewayFunctions } from '../../expressions/functions.ts'
import type { BodyUse } from '../context/body-use.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Expression } from '../context/step.ts'
import { Scope, type ScopeServices } from '../views/scope.ts'

export type { ExpressionPhase } from '../../expressions/variables.ts'

export type { Expression }

/** Compiles the expressions of one generation; equal ones are compiled once. */
export function createExpressions(services: ScopeServices): (source: string, phase: ExpressionPhase) => Expression {
  const made = new Map<string, Expression>()
  return (source, phase) => {
    const key = `${phase} ${source}`
    const known = made.get(key)
    if (known !== undefined) return known
    const expression = createExpression(source, phase, services)
    made.set(key, expression)
    return expression
  }
}

function createExpression(source: string, phase: ExpressionPhase, services: ScopeServices): Expression {
  const program = compileExpression(source, phase)
  const { references } = program
  const use = (root: string): BodyUse =>
    reads(references, [root, 'body']) ? 'whole' : reads(references, [root, 'bodyPrefix']) ? 'prefix' : 'none'
  const evaluateOn = (rx: RequestContext): Result => program.evaluate((rx.scope ??= new Scope(rx, services)))
  return {
    source,
    requestBody: use('request'),
    responseBody: phase === 'response' ? use('response') : 'none',
    evaluate: evaluateOn,
    isTrue: (rx) => evaluateOn(rx) === true,
  }
}

/** Compiles an expression over any scope, for example that of a connection without HTTP. */
export function compileExpression(source: string, phase: ExpressionPhase): Program {
  const compiled = compile(source, environmentFor(phase))
  // The schema has checked it with the same environment.
  if (!compiled.ok) throw new Error(`expression ${JSON.stringify(source)}: ${compiled.problems[0]?.message}`)
  return compiled.program
}

const environments = new Map<ExpressionPhase, Environment>()

export function environmentFor(phase: ExpressionPhase): Environment {
  let environment = environments.get(phase)
  if (environment === undefined) {
    environment = createEnvironment({ variables: variablesByPhase[phase], functions: gatewayFunctions })
    environments.set(phase, environment)
  }
  return environment
}
