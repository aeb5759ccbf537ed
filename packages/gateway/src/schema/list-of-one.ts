import { fieldOf } from './kit.ts'
import type { Schema } from './kit.ts'

/** Takes the only item out of lists that the definition allows in place of a mapping; the input is changed. */
export function unwrapLists(schema: Schema, input: unknown): void {
  if (typeof input !== 'object' || input === null) return
  for (const { name, child, mayBeList } of waysTo(schema)) {
    if (name === null) {
      for (const value of Object.values(input)) unwrapLists(child, value)
      continue
    }
    const members = input as Record<string, unknown>
    const value = members[name]
    if (value === undefined) continue
    if (mayBeList && Array.isArray(value) && value.length === 1) members[name] = value[0]
    unwrapLists(child, members[name])
  }
}

/** A step towards such a list; a name of null stands for every item or value. */
interface Way {
  name: string | null
  child: Schema
  mayBeList: boolean
}

const waysBySchema = new WeakMap<Schema, readonly Way[]>()

/** The steps that lead to one: most of a large file is not looked at. */
function waysTo(schema: Schema): readonly Way[] {
  const known = waysBySchema.get(schema)
  if (known !== undefined) return known
  const ways = childrenOf(schema)
    .map(([name, child]) => ({ name, child, mayBeList: fieldOf(child).mayBeList }))
    .filter(({ child, mayBeList }) => mayBeList || waysTo(child).length > 0)
  waysBySchema.set(schema, ways)
  return ways
}

function childrenOf(schema: Schema): [name: string | null, child: Schema][] {
  const { node } = fieldOf(schema)
  switch (node.kind) {
    case 'object':
      return Object.entries(node.fields)
    case 'list':
      return [[null, node.item]]
    case 'map':
      return [[null, node.value]]
    case 'scalar':
      return []
  }
}
