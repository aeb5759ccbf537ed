import {
  CelError,
  type FunctionDefinition,
  listOf,
  overload,
  type Result,
  string,
  type Value,
} from '@portico/cel/declare'
import { parameterValues, splitTarget, withAddedParameter, withParameter } from '../formats/query-parameters.ts'

/** Functions for `request.uri`, `request.pathAndQuery` and other strings with a query. */
export const queryFunctions: readonly FunctionDefinition[] = [
  {
    name: 'query',
    style: 'receiver',
    minArgs: 1,
    maxArgs: 1,
    overloads: [overload([string, string], listOf(string))],
    summary: 'The decoded values of a query parameter, as a list.',
    pure: true,
    call: (target: Value, name: Value): Result => {
      if (typeof target !== 'string' || typeof name !== 'string') return wrongTypes('query')
      const values = parameterValues(escaped(splitTarget(target)[1]), name)
      return values.length === 0 ? new CelError('no_such_key', `no such query parameter: ${name}`) : values
    },
  },
  change('addQuery', 'The same with one more query parameter.', withAddedParameter),
  change('setQuery', 'The same with a query parameter in place of all others of its name.', (target, name, value) => {
    const [path, query] = splitTarget(target)
    return withParameter(`${path}?${escaped(query)}`, name, value)
  }),
]

function change(
  name: string,
  summary: string,
  run: (target: string, name: string, value: string) => string,
): FunctionDefinition {
  return {
    name,
    style: 'receiver',
    minArgs: 2,
    maxArgs: 2,
    overloads: [overload([string, string, string], string)],
    summary,
    pure: true,
    call: (target: Value, parameter: Value, value: Value): Result =>
      typeof target === 'string' && typeof parameter === 'string' && typeof value === 'string'
        ? run(target, parameter, value)
        : wrongTypes(name),
  }
}

/** Strings of requests are ASCII; strings that an expression built need not be. */
function escaped(text: string): string {
  return text.replaceAll(/[^\x00-\x7f]+/g, (characters) => encodeURIComponent(characters.toWellFormed()))
}

function wrongTypes(name: string): CelError {
  return new CelError('no_such_overload', `${name} takes strings`)
}
