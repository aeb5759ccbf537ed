import type { Plan } from './plan.ts'
import { isPath, pathNames } from './plan.ts'

interface KnownPath {
  names: readonly string[]
  /** Whether the path goes through an optional, so absence is no error. */
  guarded: boolean
  /** Whether `names` stops before a computed key, so that the read may be of anything beneath. */
  open: boolean
}

/** The declared path that a plan reads, up to the first computed key. */
export function pathOf(node: Plan): KnownPath | undefined {
  if (isPath(node)) return { names: pathNames(node), guarded: false, open: false }
  if (node.kind === 'view') return { names: pathNames(node.path), guarded: false, open: false }
  if (node.kind === 'optionalPath') return { names: pathNames(node.path), guarded: true, open: false }
  if (node.kind === 'select') return extended(pathOf(node.operand), node.field, false)
  if (node.kind !== 'index' && node.kind !== 'optionalIndex') return undefined
  const key = node.key.kind === 'constant' && typeof node.key.value === 'string' ? node.key.value : undefined
  return extended(pathOf(node.operand), key, node.kind === 'optionalIndex')
}

function extended(path: KnownPath | undefined, name: string | undefined, isOptional: boolean): KnownPath | undefined {
  if (path === undefined) return undefined
  const open = path.open || name === undefined
  return { names: open ? path.names : [...path.names, name], guarded: path.guarded || isOptional, open }
}
