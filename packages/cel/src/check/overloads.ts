import type { Overload } from '../declarations.ts'
import type { Type } from '../types.ts'
import { join, mayBe, memberOf, never, within } from '../types.ts'

/** What a call may give: the results of all overloads that the arguments may be meant for; undefined when none fits. */
export function resultOf(overloads: readonly Overload[], args: readonly Type[]): Type | undefined {
  // What never is a value leaves nothing to compute with.
  if (args.some((arg) => arg.length === 0)) return never
  let result: Type | undefined
  for (const { takes, rest, gives } of overloads) {
    if (rest === undefined ? args.length !== takes.length : args.length < takes.length) continue
    const given: Given = new Map()
    if (!args.every((arg, at) => takesType(takes[at] ?? rest ?? never, arg, given))) continue
    const type = withParameters(gives, given)
    result = result === undefined ? type : join(result, type)
  }
  return result
}

/** What parameters stand for. */
type Given = Map<string, Type>

function takesType(wanted: Type, arg: Type, given: Given): boolean {
  if (wanted === 'dyn') return true
  const [first] = wanted
  if (first?.isParameter) return bindParameter(first.name, first.of[0] ?? 'dyn', arg, given)
  if (!mayBe(arg, wanted)) return false
  for (const { name, of } of wanted) {
    const parts = arg === 'dyn' ? of.map((): Type => 'dyn') : (memberOf(arg, name)?.of ?? [])
    // Lists of items that do not fit may still be empty.
    for (const [at, part] of parts.entries()) takesType(of[at] ?? 'dyn', part, given)
  }
  return true
}

function bindParameter(name: string, bounds: Type, arg: Type, given: Given): boolean {
  if (!mayBe(arg, bounds)) return false
  given.set(name, join(given.get(name) ?? never, within(arg, bounds)))
  return true
}

function withParameters(type: Type, given: Given): Type {
  if (type === 'dyn') return type
  const [first] = type
  if (first?.isParameter) return given.get(first.name) ?? never
  return type.map((member) => ({ ...member, of: member.of.map((part) => withParameters(part, given)) }))
}
