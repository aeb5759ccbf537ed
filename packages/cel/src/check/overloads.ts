import type { Overload } from '../declarations.ts'
import type { Type } from '../types.ts'
import { join, mayBe, memberOf, never, within } from '../types.ts'

/** Returns the union of the results of all overloads that fit the arguments; undefined when none fits. */
export function resultOf(overloads: readonly Overload[], args: readonly Type[]): Type | undefined {
  // An argument that never has a value makes the call have none.
  if (args.some((arg) => arg.length === 0)) return never
  let result: Type | undefined
  for (const { takes, rest, gives } of overloads) {
    if (rest === undefined ? args.length !== takes.length : args.length < takes.length) continue
    const given: ParameterBindings = new Map()
    if (!args.every((arg, at) => takesType(takes[at] ?? rest ?? never, arg, given))) continue
    const type = withParameters(gives, given)
    result = result === undefined ? type : join(result, type)
  }
  return result
}

/** Type parameters by name, bound to the types of the arguments. */
type ParameterBindings = Map<string, Type>

function takesType(wanted: Type, arg: Type, given: ParameterBindings): boolean {
  if (wanted === 'dyn') return true
  const [first] = wanted
  if (first?.isParameter) return bindParameter(first.name, first.of[0] ?? 'dyn', arg, given)
  if (!mayBe(arg, wanted)) return false
  for (const { name, of } of wanted) {
    const parts = arg === 'dyn' ? of.map((): Type => 'dyn') : (memberOf(arg, name)?.of ?? [])
    // A list whose item type does not fit is accepted, because the list may be empty.
    for (const [at, part] of parts.entries()) takesType(of[at] ?? 'dyn', part, given)
  }
  return true
}

function bindParameter(name: string, bounds: Type, arg: Type, given: ParameterBindings): boolean {
  if (!mayBe(arg, bounds)) return false
  given.set(name, join(given.get(name) ?? never, within(arg, bounds)))
  return true
}

function withParameters(type: Type, given: ParameterBindings): Type {
  if (type === 'dyn') return type
  const [first] = type
  if (first?.isParameter) return given.get(first.name) ?? never
  return type.map((member) => ({ ...member, of: member.of.map((part) => withParameters(part, given)) }))
}
