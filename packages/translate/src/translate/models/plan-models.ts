import type { Backend } from '@portico/gateway/ir'
import type { Fields } from '../../resources/fields.ts'
import { readBackendRef } from '../../resources/references.ts'
import type { ResolvedBackend } from '../backends/backend-refs.ts'
import type { Context } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { modelTable } from './model-table.ts'
import { isModelReference, linkedModels } from './rule-models.ts'
import { tableOfRule } from './table-members.ts'

/** The GwModels of a rule, as one backend. */
interface ModelsPlan {
  to: ResolvedBackend | Unusable
  /** Backends without a server, for models that cannot be used. */
  broken: Backend[]
  /** Why references of the rule do not resolve. */
  refused: Unusable[]
  /** Why the rule cannot be used at all. */
  refusal: Unusable | null
}

/** Reads the references of a rule to GwModels; null when there are none. */
export function planModels(
  context: Context,
  owner: { namespace: string; name: string; index: number },
  references: readonly Fields[],
): ModelsPlan | null {
  if (!references.some(isModelReference)) return null
  const route = `${owner.namespace}/${owner.name}`
  const found = context.read(linkedModels, route).find(({ index }) => index === owner.index)
  const refused = (found?.refused ?? []).map(({ problem }) => problem)
  const refusal = referenceProblem(owner.namespace, references)
  const [first] = refused
  if (found === undefined || found.members.length === 0) {
    const to: Unusable = first ?? { reason: 'BackendNotFound', message: 'The rule refers to no GwModel' }
    return { to, broken: [], refused, refusal }
  }
  const { backend, broken, problems } = context.read(modelTable, tableOfRule(route, owner.index))
  const ignored = Object.entries(problems).map(([place, { message }]) => `GwModel ${place}: ${message}`)
  return { to: { backend, ignored }, broken, refused, refusal }
}

/** Models are chosen by name, so nothing could be done with weights, or with filters of one model. */
function referenceProblem(namespace: string, references: readonly Fields[]): Unusable | null {
  let refusal: Unusable | null = null
  const refuse = (message: string): void => {
    refusal ??= { reason: 'UnsupportedValue', message }
  }
  for (const fields of references) {
    const to = isModelReference(fields) ? readBackendRef(fields, namespace) : undefined
    if (to === undefined) {
      refuse('A rule that refers to GwModels cannot have other backends')
      continue
    }
    if (to.weight !== 1 || to.port !== undefined || fields.objects('filters').length > 0) {
      refuse(`The reference to GwModel ${to.namespace}/${to.name} cannot have a weight, a port or filters`)
    }
    fields.done()
  }
  return refusal
}
