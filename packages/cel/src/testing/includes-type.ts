import type { Type } from '../types.ts'
import { memberOf, never } from '../types.ts'

/** Whether every value of `other` is also a value of `type`. */
export function includesType(type: Type, other: Type): boolean {
  if (type === 'dyn') return true
  if (other === 'dyn') return false
  return other.every(({ name, of }) => {
    const member = memberOf(type, name)
    return member !== undefined && of.every((part, at) => includesType(member.of[at] ?? never, part))
  })
}
