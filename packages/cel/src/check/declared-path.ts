import type { Path, Plan } from '../plan.ts'
import { isPath, pathNames, typeOfPath } from '../plan.ts'
import type { Resolver } from './resolver.ts'
import { suggest } from './suggest.ts'

/** Plans a field of a struct or a header: undefined when the operand is neither, `unknown` when the field was rejected. */
export function declaredPath(
  resolver: Resolver,
  operand: Plan,
  name: string,
  offset: number,
): Path | 'unknown' | undefined {
  if (!isPath(operand)) return undefined
  const type = typeOfPath(operand)
  if (type?.kind === 'headers') return { kind: 'header', offset, parent: operand, name: name.toLowerCase() }
  if (type?.kind !== 'struct') return undefined
  const field = type.fields.get(name)
  if (field !== undefined) return { kind: 'field', offset, parent: operand, name, type: field }
  const owner = pathNames(operand).join('.')
  resolver.unknown(`\`${owner}\` has no field \`${name}\``, offset, () => suggest(name, type.fields.keys()))
  return 'unknown'
}
