import type { LoopMacro, Plan } from '../plan.ts'
import { argumentAt, declare, nameExpected, variableName } from './macro-variables.ts'
import type { Locals, MethodCall, MethodMacro, Resolver } from './resolver.ts'

export const loopMacros: readonly MethodMacro[] = [
  loop('all', 'all', 'Whether the condition holds for every item.'),
  loop('exists', 'exists', 'Whether the condition holds for some item.'),
  loop('exists_one', 'existsOne', 'Whether the condition holds for exactly one item.'),
  loop('existsOne', 'existsOne', 'The same as exists_one.'),
  {
    name: 'map',
    usage: 'v.map(x, expr), v.map(x, condition, expr)',
    args: [2, 3],
    summary: 'A list of the results of the expression for each item (that meets a condition).',
    expand: (resolver, call, locals) =>
      expandLoop(resolver, call, locals, { macro: 'toList', variables: 1, filtered: call.args.length === 3 }),
  },
  {
    name: 'filter',
    usage: 'v.filter(x, condition)',
    args: [2],
    summary: 'The items that meet the condition.',
    expand(resolver, call, locals) {
      const variable = argumentAt(call.args, 0)
      const args = [variable, argumentAt(call.args, 1), variable]
      return expandLoop(resolver, { ...call, args }, locals, { macro: 'toList', variables: 1, filtered: true })
    },
  },
  transform(
    'transformList',
    'toList',
    'A list of the results of the expression for each index and item, or key and value.',
  ),
  transform(
    'transformMap',
    'toMap',
    'A map of the results of the expression for each index and item, or key and value.',
  ),
  {
    name: 'mapValues',
    usage: 'v.mapValues(x, expr)',
    args: [2],
    summary: 'The map with each value replaced by the result of the expression.',
    expand: (resolver, call, locals) =>
      expandLoop(resolver, call, locals, { macro: 'toMap', variables: 1, filtered: false, values: true }),
  },
  {
    name: 'filterKeys',
    usage: 'v.filterKeys(k, condition)',
    args: [2],
    summary: 'The entries of the map whose key meets the condition.',
    expand: (resolver, call, locals) =>
      expandLoop(resolver, call, locals, { macro: 'filterKeys', variables: 1, filtered: false }),
  },
]

interface LoopShape {
  macro: LoopMacro
  variables: 1 | 2
  /** Whether the macro has a condition before its body. */
  filtered: boolean
  values?: boolean
}

function loop(name: string, macro: LoopMacro, summary: string): MethodMacro {
  return {
    name,
    usage: `v.${name}(x, condition), v.${name}(k, x, condition)`,
    args: [2, 3],
    summary,
    expand: (resolver, call, locals) =>
      expandLoop(resolver, call, locals, { macro, variables: call.args.length === 3 ? 2 : 1, filtered: false }),
  }
}

function transform(name: string, macro: LoopMacro, summary: string): MethodMacro {
  return {
    name,
    usage: `v.${name}(k, x, expr), v.${name}(k, x, condition, expr)`,
    args: [3, 4],
    summary,
    expand: (resolver, call, locals) =>
      expandLoop(resolver, call, locals, { macro, variables: 2, filtered: call.args.length === 4 }),
  }
}

function expandLoop(resolver: Resolver, call: MethodCall, locals: Locals, shape: LoopShape): Plan {
  const { args, offset } = call
  const range = resolver.resolve(call.target, locals)
  const inner = new Map(locals)
  const ids = args.slice(0, shape.variables).map((arg) => declare(resolver, arg, inner))
  const [first, second] = ids
  if (first === undefined || ids.includes(undefined)) return nameExpected(resolver, args, shape.variables)
  if (second !== undefined && variableName(argumentAt(args, 0)) === variableName(argumentAt(args, 1))) {
    return resolver.refuse('both variables have the same name', argumentAt(args, 1).offset)
  }
  const filter = shape.filtered ? resolver.resolve(argumentAt(args, shape.variables), inner) : null
  return {
    kind: 'loop',
    offset,
    macro: shape.macro,
    range,
    locals: second === undefined ? [first] : [first, second],
    values: shape.values ?? false,
    filter,
    body: resolver.resolve(argumentAt(args, args.length - 1), inner),
  }
}
