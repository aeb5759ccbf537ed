import type { FunctionDefinition } from '../declarations.ts'
import { functionKey } from '../declarations.ts'
import type { Expr } from '../parse/ast.ts'
import { dottedName } from '../parse/ast.ts'
import type { Plan } from '../plan.ts'
import { expandMacro, macroNames } from './macros.ts'
import type { Locals, Resolver } from './resolver.ts'
import { suggest } from './suggest.ts'

type Call = Expr & { kind: 'call' }

export function resolveCall(resolver: Resolver, expr: Call, locals: Locals): Plan {
  const macro = expandMacro(resolver, expr, locals)
  if (macro !== undefined) return macro
  const { offset, target, name } = expr
  const args = expr.args.map((arg) => resolver.resolve(arg, locals))
  if (target === null) return chooseDefinition(resolver, { style: 'global', name, offset, args })

  // `base64.encode(x)`: a namespace looks like a receiver.
  const namespace = dottedName(target)
  const [first = ''] = namespace?.split('.') ?? []
  if (namespace !== undefined && !locals.has(first) && !resolver.isVariable(first)) {
    const qualified = `${namespace}.${name}`
    if (resolver.environment.functions.has(functionKey('global', qualified)) || isNamespace(resolver, namespace)) {
      return chooseDefinition(resolver, { style: 'global', name: qualified, offset, args })
    }
  }
  return chooseDefinition(resolver, {
    style: 'receiver',
    name,
    offset,
    args: [resolver.resolve(target, locals), ...args],
  })
}

interface CallSite {
  style: 'global' | 'receiver'
  name: string
  offset: number
  /** The arguments, with the receiver first when there is one. */
  args: Plan[]
}

function chooseDefinition(resolver: Resolver, { style, name, offset, args }: CallSite): Plan {
  const { functions } = resolver.environment
  const known = functions.get(functionKey(style, name))
  if (known === undefined) return unknownFunction(resolver, { style, name, offset, args })
  const count = args.length - (style === 'receiver' ? 1 : 0)
  const fitting = known.filter(({ minArgs, maxArgs }) => count >= minArgs && count <= maxArgs)
  if (fitting.length === 0) {
    return resolver.unknown(`\`${name}\` takes ${describeArity(known)}, not ${count}`, offset)
  }
  return {
    kind: 'call',
    offset,
    // When the library and the host define a function of the same name, the host's wins.
    methods: fitting.filter(({ on }) => on !== undefined).toReversed(),
    fallback: fitting.findLast(({ on }) => on === undefined),
    args,
    label: style === 'receiver' ? `.${name}()` : `${name}()`,
  }
}

function unknownFunction(resolver: Resolver, { style, name, offset }: CallSite): Plan {
  const { functions } = resolver.environment
  if (style === 'global' && functions.has(functionKey('receiver', name))) {
    return resolver.unknown(`\`${name}\` is a method`, offset, () => `x.${name}(…)`)
  }
  if (style === 'receiver' && functions.has(functionKey('global', name))) {
    return resolver.unknown(`\`${name}\` is not a method`, offset, () => `${name}(…)`)
  }
  return resolver.unknown(`unknown function \`${name}\``, offset, () => {
    const isMethod = style === 'receiver'
    const sameStyle = [...functions.keys()].filter((key) => key.startsWith('.') === isMethod)
    return suggest(name, [...sameStyle.map((key) => key.slice(isMethod ? 1 : 0)), ...macroNames(style)])
  })
}

function describeArity(definitions: readonly FunctionDefinition[]): string {
  const least = Math.min(...definitions.map(({ minArgs }) => minArgs))
  const most = Math.max(...definitions.map(({ maxArgs }) => maxArgs))
  const range = least === most ? `${least}` : `${least} to ${most}`
  return `${range} argument${range === '1' ? '' : 's'}`
}

function isNamespace(resolver: Resolver, name: string): boolean {
  for (const key of resolver.environment.functions.keys()) if (key.startsWith(`${name}.`)) return true
  return false
}
