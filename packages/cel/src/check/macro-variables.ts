import type { Expr } from '../parse/ast.ts'
import type { Plan } from '../plan.ts'
import type { Call, Locals, Resolver } from './resolver.ts'

/** Declares a macro variable in the scope; undefined when the expression is not a plain name. */
export function declare(resolver: Resolver, variable: Expr, scope: Map<string, number>): number | undefined {
  const name = variableName(variable)
  if (name === undefined) return undefined
  const local = resolver.newLocal()
  scope.set(name, local)
  return local
}

/** Returns an argument that exists, because macros are chosen by their number of arguments. */
export function argumentAt(args: readonly Expr[], at: number): Expr {
  const arg = args[at]
  if (arg === undefined) throw new Error(`a macro has no argument ${at}`)
  return arg
}

export function nameExpected(resolver: Resolver, args: readonly Expr[], count: number): Plan {
  const wrong = args.slice(0, count).find((arg) => variableName(arg) === undefined) ?? argumentAt(args, 0)
  return resolver.refuse('expected the name of a variable', wrong.offset)
}

interface Binding {
  offset: number
  variable: Expr
  value: Plan
  body: Expr
}

/** Plans the body with the variable bound to the value. */
export function bind(resolver: Resolver, { offset, variable, value, body }: Binding, locals: Locals): Plan {
  const inner = new Map(locals)
  const local = declare(resolver, variable, inner)
  if (local === undefined) return nameExpected(resolver, [variable], 1)
  return { kind: 'bind', offset, local, value, body: resolver.resolve(body, inner) }
}

export function variableName(expr: Expr): string | undefined {
  if (expr.kind === 'name') return expr.absolute ? undefined : expr.name
  return expr.kind === 'call' ? blockName(expr) : undefined
}

/** `cel.index(0)` and `cel.iterVar(0, 1)` are variables in generated expressions. No plain name can collide with them. */
export function blockName({ target, name, args }: Call): string | undefined {
  if (target?.kind !== 'name' || target.name !== 'cel' || (name !== 'index' && name !== 'iterVar')) return undefined
  return `cel.${name}(${args.map((arg) => (arg.kind === 'literal' && typeof arg.value === 'number' ? arg.value : '?')).join(', ')})`
}
