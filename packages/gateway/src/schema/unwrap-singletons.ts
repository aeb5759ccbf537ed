import { fieldOf } from './kit.ts'
import type { Node, Schema } from './kit.ts'

/** Replaces one-item lists by their item where the definition allows such lists; changes the input. */
export function unwrapLists(schema: Schema, input: unknown): void {
  if (typeof input !== 'object' || input === null) return
  const { node, steps } = stepsOf(schema)
  if (node.kind !== 'object') {
    const step = stepTo('', steps, childrenOf(node)[0])
    if (step !== null) for (const value of Object.values(input)) unwrapLists(step.child, value)
    return
  }
  const members = input as Record<string, unknown>
  for (const name in members) {
    const step = stepTo(name, steps, Object.hasOwn(node.fields, name) ? node.fields[name] : undefined)
    if (step === null) continue
    const value = members[name]
    if (step.mayBeList && Array.isArray(value) && value.length === 1) members[name] = value[0]
    unwrapLists(step.child, members[name])
  }
}

/** A step towards a list that may stand for its only item. */
interface ListStep {
  child: Schema
  mayBeList: boolean
}

interface ListSteps {
  node: Node
  /** By name, filled on first use; null when the child contains no such list. */
  steps: Map<string, ListStep | null>
}

const stepsBySchema = new WeakMap<Schema, ListSteps>()

function stepsOf(schema: Schema): ListSteps {
  const known = stepsBySchema.get(schema)
  if (known !== undefined) return known
  const made: ListSteps = { node: fieldOf(schema).node, steps: new Map() }
  stepsBySchema.set(schema, made)
  return made
}

/**
 * Finds the child that may contain one-item lists, so that most of a large file and of the definition is not visited.
 */
function stepTo(name: string, steps: ListSteps['steps'], child: Schema | undefined): ListStep | null {
  const known = steps.get(name)
  if (known !== undefined || child === undefined) return known ?? null
  const { mayBeList } = fieldOf(child)
  const step = mayBeList || leadsToOne(child) ? { child, mayBeList } : null
  steps.set(name, step)
  return step
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
