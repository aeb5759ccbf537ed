import { fieldOf } from './kit.ts'
import type { Node, Schema } from './kit.ts'

/** Replaces one-item lists by their item where the definition allows such lists; changes the input. */
export function unwrapLists(schema: Schema, input: unknown): void {
  unwrapWith(stepsOf(schema), input)
}

function unwrapWith({ node, steps }: ListSteps, input: unknown): void {
  if (typeof input !== 'object' || input === null) return
  if (node.kind !== 'object') {
    const known = steps.get('')
    const step = known === undefined ? stepTo('', steps, childrenOf(node)[0]) : known
    if (step === null) return
    step.next ??= stepsOf(step.child)
    for (const value of Object.values(input)) unwrapWith(step.next, value)
    return
  }
  const members = input as Record<string, unknown>
  for (const name in members) {
    const known = steps.get(name)
    const step =
      known === undefined
        ? stepTo(name, steps, Object.hasOwn(node.fields, name) ? node.fields[name] : undefined)
        : known
    if (step === null) continue
    const value = members[name]
    if (step.mayBeList && Array.isArray(value) && value.length === 1) members[name] = value[0]
    step.next ??= stepsOf(step.child)
    unwrapWith(step.next, members[name])
  }
}

/** A step towards a list that may stand for its only item. */
interface ListStep {
  child: Schema
  mayBeList: boolean
  /** The steps of the child; null before the first value. */
  next: ListSteps | null
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
  if (child === undefined) return null
  const { mayBeList } = fieldOf(child)
  const step = mayBeList || leadsToOne(child) ? { child, mayBeList, next: null } : null
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
