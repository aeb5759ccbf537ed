import { argumentAt, declare, nameExpected } from './macro-variables.ts'
import type { MethodMacro } from './resolver.ts'

export const optionalMacros: readonly MethodMacro[] = [
  orElse('or', false, 'The optional, or another when it is empty.'),
  orElse('orValue', true, 'The content of the optional, or another value when it is empty.'),
  optionalMap('optMap', false, 'An optional of the result of the expression for the content, if there is one.'),
  optionalMap('optFlatMap', true, 'Like optMap, with an expression that returns an optional.'),
]

function orElse(name: string, unwrap: boolean, summary: string): MethodMacro {
  return {
    name,
    usage: `v.${name}(other)`,
    args: [1],
    summary,
    expand: (resolver, { target, args, offset }, locals) => ({
      kind: 'orElse',
      offset,
      unwrap,
      operand: resolver.resolve(target, locals),
      alternative: resolver.resolve(argumentAt(args, 0), locals),
    }),
  }
}

function optionalMap(name: string, flat: boolean, summary: string): MethodMacro {
  return {
    name,
    usage: `v.${name}(x, expr)`,
    args: [2],
    summary,
    expand(resolver, { target, args, offset }, locals) {
      const operand = resolver.resolve(target, locals)
      const inner = new Map(locals)
      const local = declare(resolver, argumentAt(args, 0), inner)
      if (local === undefined) return nameExpected(resolver, args, 1)
      return { kind: 'optionalMap', offset, operand, local, flat, body: resolver.resolve(argumentAt(args, 1), inner) }
    },
  }
}
