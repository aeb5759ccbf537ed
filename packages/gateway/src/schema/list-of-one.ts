import { fieldOf } from './kit.ts'
import type { Node, Schema } from './kit.ts'

/** Replaces one-item lists by their item where the definition allows such lists; changes the input. */
export function unwrapLists(schema: Schema, input: unknown): void {
  if (typeof input !== 'object' || input === null) return
  const { node, ways } = waysOf(schema)
  if (node.kind !== 'object') {
    const way = wayTo('', ways, childrenOf(node)[0])
    if (way !== null) for (const value of Object.values(input)) unwrapLists(way.child, value)
    return
  }
  const members = input as Record<string, unknown>
  for (const name in members) {
    const way = wayTo(name, ways, Object.hasOwn(node.fields, name) ? node.fields[name] : undefined)
    if (way === null) continue
    const value = members[name]
    if (way.mayBeList && Array.isArray(value) && value.length === 1) members[name] = value[0]
    unwrapLists(way.child, members[name])
  }
}

/** A step towards such a list. */
interface Way {
  child: Schema
  mayBeList: boolean
}

interface Ways {
  node: Node
  /** By name, filled on first use; null when the child contains no such list. */
  ways: Map<string, Way | null>
}

const waysBySchema = new WeakMap<Schema, Ways>()

function waysOf(schema: Schema): Ways {
  const known = waysBySchema.get(schema)
  if (known !== undefined) return known
  const made: Ways = { node: fieldOf(schema).node, ways: new Map() }
  waysBySchema.set(schema, made)
  return made
}

/**
 * Finds the child that may contain one-item lists, so that most of a large file and of the definition is not visited.
 */
function wayTo(name: string, ways: Ways['ways'], child: Schema | undefined): Way | null {
  const known = ways.get(name)
  if (known !== undefined || child === undefined) return known ?? null
  const { mayBeList } = fieldOf(child)
  const way = mayBeList || leadsToOne(child) ? { child, mayBeList } : null
  ways.set(name, way)
  return way
}

const leadsBySchema = new WeakMap<Schema, boolean>()

function leadsToOne(schema: Schema): boolean {
  const known = leadsBySchema.get(schema)
  if (known !== undefined) return known
  const children = childrenOf(fieldOf(schema).node)
  const leads = children.some((child) => fieldOf(child).mayBeList) || children.some(leadsToOne)
  leadsBySchema.set(schema, leads)
  return leads
}

function childrenOf(node: Node): Schema[] {
  switch (node.kind) {
    case 'object':
      return Object.values(node.fields)
    case 'list':
      return [node.item]
    case 'map':
      return [node.value]
    case 'scalar':
      return []
  }
}
