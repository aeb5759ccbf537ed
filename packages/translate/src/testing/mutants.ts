import * as fc from 'fast-check'
import type { Resource } from '../resources/resource.ts'

/**
 * Rules that the schema of a definition cannot express: grammars of strings, sizes of free-form values, bounds of
 * quantities that are strings.
 */
export const INEXPRESSIBLE: ReadonlySet<string> = new Set([
  'bad_format',
  'out_of_range',
  'bad_expression',
  'not_allowed',
])

/** Resources with members replaced, removed, added, or copied from one another. */
export function mutants(resources: readonly Resource[]): fc.Arbitrary<Resource> {
  const values = resources.flatMap(({ spec }) => partsOf(spec))
  const junk = fc.constantFrom<unknown>(-1, 0, 1, 70_000, true, '', 'x', '1s', '0', [], ['a'], {}, { a: 1 }, ...values)
  const kind = fc.constantFrom('replace', 'delete', 'add', 'graft')
  const change = fc.record({ place: fc.nat(), kind, name: fc.nat(), junk })
  return fc
    .tuple(fc.constantFrom(...resources), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([resource, changes]) => {
      const copy = structuredClone(resource)
      for (const each of changes) mutate(copy, each, values)
      return copy
    })
}

/** All objects and lists in a value. */
function partsOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(partsOf)]
}

interface Change {
  place: number
  kind: string
  name: number
  junk: unknown
}

/** Changes one member of one part of the spec; `graft` copies a member of another part into it. */
function mutate(resource: Resource, { place, kind, name, junk }: Change, others: readonly unknown[]): void {
  const parts = partsOf(resource.spec)
  const part = parts[place % Math.max(parts.length, 1)] as Record<string, unknown> | unknown[] | undefined
  if (part === undefined) return
  const keys = Object.keys(part)
  const key = keys[name % Math.max(keys.length, 1)] ?? 'x'
  const value: unknown = structuredClone(junk)
  if (Array.isArray(part)) {
    if (kind === 'delete') part.splice(Number(key), 1)
    else if (kind === 'replace') part[Number(key) || 0] = value
    else part.push(value)
    return
  }
  if (kind === 'delete') delete part[key]
  else if (kind === 'graft') {
    const other = others[name % others.length] as Record<string, unknown>
    const from = Object.keys(other)[place % Math.max(Object.keys(other).length, 1)]
    if (from !== undefined && !Array.isArray(other)) part[from] = structuredClone(other[from])
  } else part[kind === 'add' ? `${key}x` : key] = value
}
