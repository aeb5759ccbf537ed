import type { VariableType } from '../declarations.ts'
import type { Path } from '../plan.ts'
import { typeOfPath } from '../plan.ts'
import type { Type } from '../types.ts'
import { join, listOf, mapOf, mayBe, memberOf, never, nullType, number, oneOf, optionalType } from '../types.ts'
import { string, without } from '../types.ts'

/** One line is a text, several are a list. */
const headerValue = oneOf(string, listOf(string))

export function declaredType(path: Path): Type {
  const declared = typeOfPath(path)
  if (declared === undefined) return headerValue
  const type = typeOfVariable(declared)
  // An absent variable is null, what is absent beneath one is an error.
  return path.kind === 'root' && declared.optional ? join(type, nullType) : type
}

function typeOfVariable(declared: VariableType): Type {
  if (declared.kind === 'value') return declared.type
  return mapOf(string, declared.kind === 'headers' ? headerValue : 'dyn')
}

/** `operand[key]`, and `operand.field` with the type of a text. Undefined when there can be no such thing. */
export function memberType(operand: Type, key: Type): Type | undefined {
  if (operand === 'dyn') return 'dyn'
  let result = operand.length === 0 || memberOf(operand, 'null_type') !== undefined ? never : undefined
  for (const { name, of } of operand) {
    const [first = never, second = never] = of
    if (name === 'map') result = join(result ?? never, second)
    else if (name === 'list' && mayBe(key, number)) result = join(result ?? never, first)
    else if (name === 'optional_type') {
      result = join(result ?? never, optionalType(unwrapped(memberType(first, key) ?? never)))
    }
  }
  return result
}

/** `operand[?key]` and `operand.?field`: an optional, and of an optional the same. */
export function optionalMemberType(operand: Type, key: Type): Type | undefined {
  if (operand === 'dyn') return optionalType('dyn')
  let result: Type | undefined = operand.length === 0 ? never : undefined
  for (const { name, of } of operand) {
    const [first = never, second = never] = of
    if (name === 'map') result = join(result ?? never, optionalType(second))
    else if (name === 'list' && mayBe(key, number)) result = join(result ?? never, optionalType(first))
    else if (name === 'null_type') result = join(result ?? never, optionalType(never))
    else if (name === 'optional_type') {
      const inner = optionalMemberType(first, key) ?? never
      result = join(result ?? never, join(optionalType(never), inner))
    }
  }
  return result
}

/** What is selected from an optional is one, but not twice. */
function unwrapped(type: Type): Type {
  const inside = memberOf(type, 'optional_type')
  return inside === undefined ? type : join(without(type, [inside]), inside.of[0] ?? never)
}
