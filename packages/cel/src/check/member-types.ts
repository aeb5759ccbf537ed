import type { VariableType } from '../declarations.ts'
import type { Path } from '../plan.ts'
import { typeOfPath } from '../plan.ts'
import type { Type } from '../types.ts'
import { join, listOf, mapOf, mayBe, memberOf, never, nullType, number, oneOf, optionalType } from '../types.ts'
import { string, without } from '../types.ts'

/** A header with one line is a string, a header with several lines is a list. */
const headerValue = oneOf(string, listOf(string))

export function declaredType(path: Path): Type {
  const declared = typeOfPath(path)
  if (declared === undefined) return headerValue
  const type = typeOfVariable(declared)
  // An absent variable is null; reading an absent field of a variable is an error.
  return path.kind === 'root' && declared.optional ? join(type, nullType) : type
}

function typeOfVariable(declared: VariableType): Type {
  if (declared.kind === 'value') return declared.type
  return mapOf(string, declared.kind === 'headers' ? headerValue : 'dyn')
}

/** The type of `operand[key]`, or of `operand.field` with a string as key. Undefined when the member cannot exist. */
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

/** The type of `operand[?key]` and `operand.?field`: an optional, also when the operand is an optional. */
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

/** A member of an optional is an optional, but optionals do not nest. */
function unwrapped(type: Type): Type {
  const inside = memberOf(type, 'optional_type')
  return inside === undefined ? type : join(without(type, [inside]), inside.of[0] ?? never)
}
