import { check, createEnvironment, type Environment } from '@portico/cel/check'
import { gatewayFunctions } from '../expressions/functions.ts'
import { type ExpressionPhase, variablesByPhase } from '../expressions/variables.ts'

/** The paths that an expression reads, such as `['request', 'headers', 'x-team']`. */
export function readsOf(expression: string, phase: ExpressionPhase = 'request'): readonly (readonly string[])[] {
  return check(expression, environmentOf(phase)).references.map(({ path }) => path)
}

/** The names of the request headers that an expression reads, in lower case. */
export function headersRead(expression: string, phase: ExpressionPhase = 'request'): string[] {
  return readsOf(expression, phase).flatMap(([root, part, name]) =>
    root === 'request' && part === 'headers' && name !== undefined ? [name.toLowerCase()] : [],
  )
}

/** Every text of a value that looks like an expression and reads a variable, with the phase of requests. */
export function readsVariable(value: unknown, variable: string): boolean {
  if (typeof value === 'string') return new RegExp(`\\b${variable}\\b`).test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((child) => readsVariable(child, variable))
}

const environments = new Map<ExpressionPhase, Environment>()

function environmentOf(phase: ExpressionPhase): Environment {
  const known = environments.get(phase)
  if (known !== undefined) return known
  const made = createEnvironment({ variables: variablesByPhase[phase], functions: gatewayFunctions })
  environments.set(phase, made)
  return made
}
