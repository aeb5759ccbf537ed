import type { Expr } from '../parse/ast.ts'
import type { LoopMacro, Plan } from '../plan.ts'
import { declaredPath } from './declared-path.ts'
import type { Locals, Resolver } from './resolver.ts'

type Call = Expr & { kind: 'call' }
type MethodCall = Call & { target: Expr }

interface Macro {
  name: string
  /** Counts of arguments that make it this macro; others may be a function of the same name. */
  args: readonly number[]
  summary: string
}

interface GlobalMacro extends Macro {
  expand(resolver: Resolver, call: Call, locals: Locals): Plan
}

interface MethodMacro extends Macro {
  expand(resolver: Resolver, call: MethodCall, locals: Locals): Plan
}

const ANY = Array.from({ length: 32 }, (_, index) => index + 1)

export const globalMacros: readonly GlobalMacro[] = [
  { name: 'has', args: [1], summary: 'Whether a field or key is there.', expand: expandHas },
  {
    name: 'default',
    args: [2],
    summary: 'The second value when the first is null or missing; other errors stay.',
    expand: (resolver, { args, offset }, locals) => ({
      kind: 'default',
      offset,
      value: resolver.resolve(args[0]!, locals),
      fallback: resolver.resolve(args[1]!, locals),
    }),
  },
  {
    name: 'coalesce',
    args: ANY,
    summary: 'The first value that is neither null nor an error; null when there is none.',
    expand: (resolver, { args, offset }, locals) => ({
      kind: 'coalesce',
      offset,
      items: args.map((arg) => resolver.resolve(arg, locals)),
    }),
  },
]

/** Called on the name `cel`. */
export const celMacros: readonly GlobalMacro[] = [
  {
    name: 'bind',
    args: [3],
    summary: 'cel.bind(x, value, expr): the expression with a name for the value.',
    expand: (resolver, { args, offset }, locals) =>
      bind(resolver, { offset, variable: args[0]!, value: resolver.resolve(args[1]!, locals), body: args[2]! }, locals),
  },
  {
    name: 'block',
    args: [2],
    summary: 'cel.block([a, b], expr): values that expr reads as cel.index(0), cel.index(1).',
    expand: expandBlock,
  },
]

export const methodMacros: readonly MethodMacro[] = [
  loop('all', [2, 3], 'all', 'Whether the condition holds for every item.'),
  loop('exists', [2, 3], 'exists', 'Whether the condition holds for some item.'),
  loop('exists_one', [2, 3], 'existsOne', 'Whether the condition holds for exactly one item.'),
  loop('existsOne', [2, 3], 'existsOne', 'The same as exists_one.'),
  {
    name: 'map',
    args: [2, 3],
    summary: 'A list of what the expression gives for each item (that meets a condition).',
    expand: (resolver, call, locals) =>
      expandLoop(resolver, call, locals, { macro: 'toList', variables: 1, filtered: call.args.length === 3 }),
  },
  {
    name: 'filter',
    args: [2],
    summary: 'The items that meet the condition.',
    expand(resolver, call, locals) {
      const [variable, condition] = call.args
      const args = [variable!, condition!, variable!]
      return expandLoop(resolver, { ...call, args }, locals, { macro: 'toList', variables: 1, filtered: true })
    },
  },
  transform(
    'transformList',
    'toList',
    'A list of what the expression gives for each index and item, or key and value.',
  ),
  transform('transformMap', 'toMap', 'A map of what the expression gives for each index and item, or key and value.'),
  {
    name: 'mapValues',
    args: [2],
    summary: 'The map with each value replaced by what the expression gives for it.',
    expand: (resolver, call, locals) =>
      expandLoop(resolver, call, locals, { macro: 'toMap', variables: 1, filtered: false, values: true }),
  },
  {
    name: 'filterKeys',
    args: [2],
    summary: 'The entries of the map whose key meets the condition.',
    expand: (resolver, call, locals) =>
      expandLoop(resolver, call, locals, { macro: 'filterKeys', variables: 1, filtered: false }),
  },
  {
    name: 'with',
    args: [2],
    summary: 'v.with(x, expr): the expression with a name for the value.',
    expand: (resolver, { target, args, offset }, locals) =>
      bind(resolver, { offset, variable: args[0]!, value: resolver.resolve(target, locals), body: args[1]! }, locals),
  },
  orElse('or', false, 'The optional, or another when it is empty.'),
  orElse('orValue', true, 'What is in the optional, or another value when it is empty.'),
  optionalMap('optMap', false, 'An optional of what the expression gives for the value, if there is one.'),
  optionalMap('optFlatMap', true, 'The same, with an expression that gives an optional.'),
]

const globalMacrosByName = new Map(globalMacros.map((macro) => [macro.name, macro]))
const celMacrosByName = new Map(celMacros.map((macro) => [macro.name, macro]))
const methodMacrosByName = new Map(methodMacros.map((macro) => [macro.name, macro]))

export function macroNames(style: 'global' | 'receiver'): string[] {
  return style === 'receiver'
    ? [...methodMacrosByName.keys()]
    : [...globalMacrosByName.keys(), ...[...celMacrosByName.keys()].map((name) => `cel.${name}`)]
}

/** Undefined: not a macro. */
export function expandMacro(resolver: Resolver, call: Call, locals: Locals): Plan | undefined {
  const { name, target, args } = call
  const blockLocal = blockName(call)
  if (blockLocal !== undefined) {
    const local = locals.get(blockLocal)
    return local === undefined ? undefined : { kind: 'local', offset: call.offset, local }
  }
  if (target === null) return fits(globalMacrosByName.get(name), args)?.expand(resolver, call, locals)
  const isCel = target.kind === 'name' && target.name === 'cel' && !locals.has('cel')
  if (isCel) return fits(celMacrosByName.get(name), args)?.expand(resolver, call, locals)
  return fits(methodMacrosByName.get(name), args)?.expand(resolver, { ...call, target }, locals)
}

function fits<M extends Macro>(macro: M | undefined, args: readonly Expr[]): M | undefined {
  return macro?.args.includes(args.length) ? macro : undefined
}

function expandHas(resolver: Resolver, { args, offset }: Call, locals: Locals): Plan {
  const arg = args[0]!
  const field =
    arg.kind === 'select'
      ? arg.field
      : arg.kind === 'index' && arg.key.kind === 'literal' && typeof arg.key.value === 'string'
        ? arg.key.value
        : undefined
  if (field === undefined || !('operand' in arg) || ('optional' in arg && arg.optional)) {
    return resolver.refuse('`has` takes a field or a key: has(jwt.sub), has(request.headers["x-team"])', arg.offset)
  }
  const operand = resolver.resolveOperand(arg.operand, locals)
  const path = declaredPath(resolver, operand, field, arg.offset)
  if (path === 'unknown') return { kind: 'constant', offset, value: false }
  if (path !== undefined) return { kind: 'hasPath', offset, path }
  return { kind: 'has', offset, operand, field }
}

interface LoopShape {
  macro: LoopMacro
  variables: 1 | 2
  /** Whether a condition stands before the body. */
  filtered: boolean
  values?: boolean
}

function loop(name: string, args: readonly number[], macro: LoopMacro, summary: string): MethodMacro {
  return {
    name,
    args,
    summary,
    expand: (resolver, call, locals) =>
      expandLoop(resolver, call, locals, { macro, variables: call.args.length === 3 ? 2 : 1, filtered: false }),
  }
}

function transform(name: string, macro: LoopMacro, summary: string): MethodMacro {
  return {
    name,
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
  if (second !== undefined && variableName(args[0]!) === variableName(args[1]!)) {
    return resolver.refuse('both variables have the same name', args[1]!.offset)
  }
  const filter = shape.filtered ? resolver.resolve(args[shape.variables]!, inner) : null
  return {
    kind: 'loop',
    offset,
    macro: shape.macro,
    range,
    locals: second === undefined ? [first] : [first, second],
    values: shape.values ?? false,
    filter,
    body: resolver.resolve(args[args.length - 1]!, inner),
  }
}

function nameExpected(resolver: Resolver, args: readonly Expr[], count: number): Plan {
  const wrong = args.slice(0, count).find((arg) => variableName(arg) === undefined) ?? args[0]!
  return resolver.refuse('expected the name of a variable', wrong.offset)
}

interface Binding {
  offset: number
  variable: Expr
  value: Plan
  body: Expr
}

function bind(resolver: Resolver, { offset, variable, value, body }: Binding, locals: Locals): Plan {
  const inner = new Map(locals)
  const local = declare(resolver, variable, inner)
  if (local === undefined) return nameExpected(resolver, [variable], 1)
  return { kind: 'bind', offset, local, value, body: resolver.resolve(body, inner) }
}

function orElse(name: string, unwrap: boolean, summary: string): MethodMacro {
  return {
    name,
    args: [1],
    summary,
    expand: (resolver, { target, args, offset }, locals) => ({
      kind: 'orElse',
      offset,
      unwrap,
      operand: resolver.resolve(target, locals),
      alternative: resolver.resolve(args[0]!, locals),
    }),
  }
}

function optionalMap(name: string, flat: boolean, summary: string): MethodMacro {
  return {
    name,
    args: [2],
    summary,
    expand(resolver, { target, args, offset }, locals) {
      const operand = resolver.resolve(target, locals)
      const inner = new Map(locals)
      const local = declare(resolver, args[0]!, inner)
      if (local === undefined) return nameExpected(resolver, args, 1)
      return { kind: 'optionalMap', offset, operand, local, flat, body: resolver.resolve(args[1]!, inner) }
    },
  }
}

/** Each is one level of nesting. */
const MAX_SLOTS = 64

function expandBlock(resolver: Resolver, { args, offset }: Call, locals: Locals): Plan {
  const [slots, body] = args
  if (slots?.kind !== 'list' || slots.items.length > MAX_SLOTS) {
    return resolver.refuse(`\`cel.block\` takes a list of at most ${MAX_SLOTS} first`, offset)
  }
  const inner = new Map(locals)
  const bound: { local: number; value: Plan }[] = []
  for (const [index, slot] of slots.items.entries()) {
    const value = resolver.resolve(slot.value, inner)
    const local = resolver.newLocal()
    inner.set(`cel.index(${index})`, local)
    bound.push({ local, value })
  }
  return bound.reduceRight<Plan>(
    (rest, { local, value }) => ({ kind: 'bind', offset, local, value, body: rest }),
    resolver.resolve(body!, inner),
  )
}

/** `cel.index(0)` and `cel.iterVar(0, 1)` are variables that tools write. No name can look like them. */
function blockName({ target, name, args }: Call): string | undefined {
  if (target?.kind !== 'name' || target.name !== 'cel' || (name !== 'index' && name !== 'iterVar')) return undefined
  return `cel.${name}(${args.map((arg) => (arg.kind === 'literal' && typeof arg.value === 'number' ? arg.value : '?')).join(', ')})`
}

function variableName(expr: Expr): string | undefined {
  if (expr.kind === 'name') return expr.absolute ? undefined : expr.name
  return expr.kind === 'call' ? blockName(expr) : undefined
}

function declare(resolver: Resolver, variable: Expr, scope: Map<string, number>): number | undefined {
  const name = variableName(variable)
  if (name === undefined) return undefined
  const local = resolver.newLocal()
  scope.set(name, local)
  return local
}
