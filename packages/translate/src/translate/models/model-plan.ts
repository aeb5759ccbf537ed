import type { Problem } from '@portico/gateway/schema'
import { resolveReferences } from '@portico/gateway/schema'
import { Fields } from '../../resources/fields.ts'
import type { GwBackendSpec } from '../../resources/gw-backend.ts'
import { type GwModelSpec, gwModelSpec } from '../../resources/gw-model.ts'
import { readSpec } from '../../resources/own-kinds.ts'
import { printProblems } from '../backends/backend.ts'
import { referredObjects } from '../backends/referred-objects.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { ageOf } from '../precedence.ts'

/** The translation of a GwModel, independent of its parents. */
export interface ModelPlan {
  /** As `namespace/name`. */
  place: string
  namespace: string
  /** The name that clients send, or its pattern; null when it is invalid. */
  model: string | null
  generation: number
  /** A sort key: older models first. */
  age: string
  spec: GwModelSpec | null
  /** Why the model cannot be used; null when it can. */
  problem: Unusable | null
  /** Whether the problem is a reference that does not resolve. */
  isUnresolved: boolean
}

/** A model of a table whose name no other model of the table has. */
export interface NamedPlan extends ModelPlan {
  model: string
}

/** A model in the form of `ai.models`. */
export type TableModel = NonNullable<NonNullable<GwBackendSpec['ai']>['models']>[number]

/** The plan of a GwModel, by `namespace/name`; null when it does not exist. */
export const modelPlan: Query<ModelPlan | null> = {
  name: 'modelPlan',
  compute(context, place) {
    const resource = context.get('GwModel', place)
    if (resource === undefined) return null
    const { namespace = '', name, generation = 0 } = resource.metadata
    const given = new Fields(resource.spec, ['spec'], []).object('match').text('model') ?? name
    const about = { place, namespace, generation, age: ageOf(resource) }
    const read = readSpec(gwModelSpec, resource)
    if (!read.ok) {
      const hasName = !read.problems.some(({ path }) => path[1] === 'match')
      return {
        ...about,
        model: hasName ? given : null,
        spec: null,
        isUnresolved: false,
        problem: invalid(read.problems),
      }
    }
    const { value: spec, problems } = resolveReferences(gwModelSpec, read.value, objectsOf(context, namespace), [
      'spec',
    ])
    const model = spec.match?.model ?? name
    if (problems.length > 0) return { ...about, model, spec: null, isUnresolved: true, problem: invalid(problems) }
    return { ...about, model, spec, isUnresolved: false, problem: null }
  },
}

function objectsOf(context: Context, namespace: string): ReturnType<typeof referredObjects> {
  return referredObjects(context, { kind: 'GwModel', namespace })
}

function invalid(problems: readonly Problem[]): Unusable {
  return { reason: 'Invalid', message: printProblems(problems) }
}
