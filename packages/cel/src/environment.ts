import type { Environment, EnvironmentOptions, FunctionDefinition } from './declarations.ts'
import { functionKey } from './declarations.ts'
import type { Hash } from './library/hash.ts'
import { libraryFunctions } from './library/index.ts'

const DEFAULT_BUDGET = 1_000_000

/** Creates an environment. Without `hash`, expressions with hash functions can be checked but not evaluated. */
export function createEnvironment(options: EnvironmentOptions = {}, hash?: Hash): Environment {
  const variables = new Map(Object.entries(options.variables ?? {}))
  const functions = new Map<string, FunctionDefinition[]>()
  for (const definition of [...libraryFunctions(hash, variables), ...(options.functions ?? [])]) {
    const key = functionKey(definition.style, definition.name)
    const others = functions.get(key)
    if (others === undefined) functions.set(key, [definition])
    else others.push(definition)
  }
  return {
    variables,
    functions,
    budget: options.budget ?? DEFAULT_BUDGET,
    lenient: options.lenient ?? false,
    container: options.container ?? '',
  }
}
