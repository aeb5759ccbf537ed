import type { FunctionDefinition, VariableType } from '../declarations.ts'
import { CelError } from '../error.ts'
import { toText } from '../render.ts'
import { readHost, viewOf } from '../run/struct-view.ts'
import type { Result, Value } from '../value.ts'
import { globalFunction } from './define.ts'

export const controlFunctions = [
  // Never folded: what it is for is to fail when it is evaluated.
  globalFunction(
    'fail',
    [0, 1],
    'Fails, with this message.',
    (message: Value = 'fail()') => new CelError('failed', toText(message)),
    {},
  ),
]

/** `variables()` knows what is declared, so each environment has its own. */
export function variablesFunction(variables: ReadonlyMap<string, VariableType>): FunctionDefinition {
  return globalFunction(
    'variables',
    0,
    'All variables that are there, as a map.',
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
