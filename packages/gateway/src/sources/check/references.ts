import { fieldOf } from '../../schema/kit.ts'
import type { Refers, Schema } from '../../schema/kit.ts'
import { SETTLED, type SettledParts } from './settled.ts'
import type { Spot } from './tree.ts'

/** A value of the file that refers to something else. */
export interface FoundReference<R extends Refers = Refers> {
  spot: Spot
  refers: R
}

/** Keeps the references of one kind. */
export function isTo<To extends Refers['to']>(to: To) {
  return (found: FoundReference): found is FoundReference<Extract<Refers, { to: To }>> => found.refers.to === to
}

/** Finds every value that the schema marks as a reference. */
export function findReferences(schema: Schema, root: Spot, settled: SettledParts | null = null): FoundReference[] {
  const found: FoundReference[] = []
  const plan = planOf(schema)
  if (plan !== null) collect(plan, root, { found, settled })
  return found
}

/** The paths of the schema that lead to references, so that most of a large file is skipped. */
type Plan =
  | { kind: 'leaf'; refers: Refers }
  | { kind: 'fields'; fields: { name: string; plan: Plan }[] }
  | { kind: 'items' | 'entries'; plan: Plan }

const plans = new WeakMap<Schema, { plan: Plan | null }>()

function planOf(schema: Schema): Plan | null {
  const known = plans.get(schema)
  if (known !== undefined) return known.plan
  const plan = makePlan(schema)
  plans.set(schema, { plan })
  return plan
}

function makePlan(schema: Schema): Plan | null {
  const { node, needs } = fieldOf(schema)
  if (needs !== undefined) return { kind: 'leaf', refers: needs }
  switch (node.kind) {
    case 'scalar':
      return node.refers === null ? null : { kind: 'leaf', refers: node.refers }
    case 'list':
      return wrap('items', planOf(node.item))
    case 'map':
      return wrap('entries', planOf(node.value))
    case 'object': {
      const fields = Object.entries(node.fields).flatMap(([name, child]) => {
        const plan = planOf(child)
        return plan === null ? [] : { name, plan }
      })
      return fields.length === 0 ? null : { kind: 'fields', fields }
    }
  }
}

function wrap(kind: 'items' | 'entries', plan: Plan | null): Plan | null {
  return plan === null ? null : { kind, plan }
}

function collect(plan: Plan, spot: Spot, into: { found: FoundReference[]; settled: SettledParts | null }): void {
  if (!spot.exists) return
  switch (plan.kind) {
    case 'leaf':
      into.found.push({ spot, refers: plan.refers })
      return
    case 'fields':
      for (const field of plan.fields) if (spot.has(field.name)) collect(field.plan, spot.at(field.name), into)
      return
    case 'items':
      for (const item of spot.items) {
        if (into.settled?.has(item.value, SETTLED.references) !== true) collect(plan.plan, item, into)
      }
      return
    case 'entries':
      for (const key of spot.keys) collect(plan.plan, spot.at(key), into)
  }
}
