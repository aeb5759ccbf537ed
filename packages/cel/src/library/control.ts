import type { FunctionDefinition, VariableType } from '../declarations.ts'
import { overload } from '../declarations.ts'
import { CelError } from '../error.ts'
import { toText } from '../render.ts'
import { readHost, viewOf } from '../run/struct-view.ts'
import { mapOf, never, string } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { globalFunction } from './define.ts'

export const controlFunctions = [
  // `fail` is not pure, so that it fails at evaluation and not at load.
  globalFunction(
    'fail',
    [overload([], never), overload(['dyn'], never)],
    'Fails, with this message.',
    (message: Value = 'fail()') => new CelError('failed', toText(message)),
    {},
  ),
]

/** `variables()` lists the declared variables, so each environment has its own function. */
export function variablesFunction(variables: ReadonlyMap<string, VariableType>): FunctionDefinition {
  return globalFunction(
    'variables',
    overload([], mapOf(string, 'dyn')),
    'All variables that are present, as a map.',
    (scope: object): Result => {
      const all = new Map<string, Value>()
      for (const [name, type] of variables) {
        const value = readHost(scope, name)
        const whole = type.kind === 'struct' ? viewOf(value, type) : value
        if (whole !== undefined && whole !== null) all.set(name, whole)
      }
      return all
    },
    { scoped: true },
  )
}
