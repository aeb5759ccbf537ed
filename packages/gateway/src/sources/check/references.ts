import { isObject } from '@portico/http/json'
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
  if (plan !== null && root.exists) collect(plan, root.value, { root, steps: [], found, settled })
  return found
}

/** The paths of the schema that lead to references, so that most of a large file is skipped. */
type Plan =
  | { kind: 'leaf'; refers: Refers }
  | { kind: 'fields'; fields: { name: string; plan: Plan }[]; positions: ReadonlyMap<string, number> }
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
      const positions = new Map(fields.map(({ name }, position) => [name, position]))
      return fields.length === 0 ? null : { kind: 'fields', fields, positions }
    }
  }
}

function wrap(kind: 'items' | 'entries', plan: Plan | null): Plan | null {
  return plan === null ? null : { kind, plan }
}

interface Collection {
  readonly root: Spot
  /** The path of the value that is visited. */
  readonly steps: (string | number)[]
  readonly found: FoundReference[]
  readonly settled: SettledParts | null
}

/** Visits plain values, and makes spots for references only, because most parts of a large file have none. */
function collect(plan: Plan, value: unknown, into: Collection): void {
  switch (plan.kind) {
    case 'leaf':
      into.found.push({ spot: spotAt(into.root, into.steps), refers: plan.refers })
      return
    case 'fields':
      if (!isObject(value)) return
      for (const position of positionsOf(value, plan.positions)) {
        const field = plan.fields[position]
        if (field !== undefined) visit(field.plan, field.name, value[field.name], into)
      }
      return
    case 'items':
      if (!Array.isArray(value)) return
      for (let index = 0; index < value.length; index++) {
        const item: unknown = value[index]
        if (into.settled?.has(item, SETTLED.references) !== true) visit(plan.plan, index, item, into)
      }
      return
    case 'entries':
      if (isObject(value)) for (const key of Object.keys(value)) visit(plan.plan, key, value[key], into)
  }
}

function visit(plan: Plan, step: string | number, value: unknown, into: Collection): void {
  if (value === undefined) return
  into.steps.push(step)
  collect(plan, value, into)
  into.steps.pop()
}

/** The positions of the keys of a mapping that lead to references, in the order of the schema. */
function positionsOf(value: object, positions: ReadonlyMap<string, number>): number[] {
  const found: number[] = []
  for (const key of Object.keys(value)) {
    const position = positions.get(key)
    if (position !== undefined) found.push(position)
  }
  return found.length > 1 ? found.sort((a, b) => a - b) : found
}

function spotAt(root: Spot, steps: readonly (string | number)[]): Spot {
  return steps.reduce<Spot>((spot, step) => (typeof step === 'number' ? spot.item(step) : spot.at(step)), root)
}
