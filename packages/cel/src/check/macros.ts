import type { Expr } from '../parse/ast.ts'
import type { Plan } from '../plan.ts'
import { declaredPath } from './declared-path.ts'
import { loopMacros } from './loop-macros.ts'
import { argumentAt, bind, blockName } from './macro-variables.ts'
import { optionalMacros } from './optional-macros.ts'
import type { Call, GlobalMacro, Locals, Macro, MethodMacro, Resolver } from './resolver.ts'

const ANY = Array.from({ length: 32 }, (_, index) => index + 1)

export const globalMacros: readonly GlobalMacro[] = [
  { name: 'has', usage: 'has(m.key)', args: [1], summary: 'Whether a field or key is present.', expand: expandHas },
  {
    name: 'default',
    usage: 'default(value, fallback)',
    args: [2],
    summary: 'The second value when the first is null or missing; other errors stay.',
    expand: (resolver, { args, offset }, locals) => ({
      kind: 'default',
      offset,
      value: resolver.resolve(argumentAt(args, 0), locals),
      fallback: resolver.resolve(argumentAt(args, 1), locals),
    }),
  },
  {
    name: 'coalesce',
    usage: 'coalesce(a, b, …)',
    args: ANY,
    summary: 'The first value that is neither null nor an error; null when there is none.',
    expand: (resolver, { args, offset }, locals) => ({
      kind: 'coalesce',
      offset,
      items: args.map((arg) => resolver.resolve(arg, locals)),
    }),
  },
]

/** Macros called as `cel.name(...)`. */
export const celMacros: readonly GlobalMacro[] = [
  {
    name: 'bind',
    usage: 'cel.bind(x, value, expr)',
    args: [3],
    summary: 'The expression, with a name for the value.',
    expand: (resolver, { args, offset }, locals) =>
      bind(
        resolver,
        {
          offset,
          variable: argumentAt(args, 0),
          value: resolver.resolve(argumentAt(args, 1), locals),
          body: argumentAt(args, 2),
        },
        locals,
      ),
  },
  {
    name: 'block',
    usage: 'cel.block([a, b], expr)',
    args: [2],
    summary: 'The expression, which reads the values as cel.index(0), cel.index(1).',
    expand: expandBlock,
  },
]

export const methodMacros: readonly MethodMacro[] = [
  ...loopMacros,
  {
    name: 'with',
    usage: 'v.with(x, expr)',
    args: [2],
    summary: 'The expression, with a name for the value.',
    expand: (resolver, { target, args, offset }, locals) =>
      bind(
        resolver,
        { offset, variable: argumentAt(args, 0), value: resolver.resolve(target, locals), body: argumentAt(args, 1) },
        locals,
      ),
  },
  ...optionalMacros,
]

const globalMacrosByName = new Map(globalMacros.map((macro) => [macro.name, macro]))
const celMacrosByName = new Map(celMacros.map((macro) => [macro.name, macro]))
const methodMacrosByName = new Map(methodMacros.map((macro) => [macro.name, macro]))

export function macroNames(style: 'global' | 'receiver'): string[] {
  return style === 'receiver'
    ? [...methodMacrosByName.keys()]
    : [...globalMacrosByName.keys(), ...[...celMacrosByName.keys()].map((name) => `cel.${name}`)]
}

/** Expands a macro call; undefined when the call is not a macro. */
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
  const arg = argumentAt(args, 0)
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

/** `cel.block` may declare this many variables, because each adds one level of nesting. */
const MAX_SLOTS = 64

function expandBlock(resolver: Resolver, { args, offset }: Call, locals: Locals): Plan {
  const [slots, body] = [argumentAt(args, 0), argumentAt(args, 1)]
  if (slots.kind !== 'list' || slots.items.length > MAX_SLOTS) {
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
    resolver.resolve(body, inner),
  )
}
