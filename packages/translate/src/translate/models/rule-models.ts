import { didYouMean } from '@portico/gateway/schema'
import { Fields } from '../../resources/fields.ts'
import { GATEWAY_GROUP, groupByKind } from '../../resources/kinds.ts'
import { type BackendReference, printReference, readBackendRef } from '../../resources/references.ts'
import type { Context, Query } from '../context.ts'
import { isGranted } from '../grants.ts'
import type { Unusable } from '../materials.ts'
import { namesParent } from '../attachment/delegation-links.ts'

/**
 * A rule of an HTTPRoute may refer to GwModels, which its requests choose from by model. A link exists when both sides
 * name each other: the rule by a backendRef, the GwModel by a parentRef.
 */
interface RuleModels {
  index: number
  /** The name of the rule. */
  rule: string
  /** The GwModels of the rule, by `namespace/name`. */
  members: string[]
  refused: { place: string; problem: Unusable }[]
}

/** The rules of an HTTPRoute that refer to GwModels, by `namespace/name`. */
export const linkedModels: Query<RuleModels[]> = {
  name: 'linkedModels',
  compute(context, route) {
    const resource = context.get('HTTPRoute', route)
    const namespace = resource?.metadata.namespace ?? ''
    const rules = new Fields(resource?.spec, ['spec'], []).objects('rules')
    return rules.flatMap((fields, index) => {
      const references = fields.objects('backendRefs').filter(isModelReference)
      if (references.length === 0) return []
      const rule = fields.text('name') ?? ''
      const made: RuleModels = { index, rule, members: [], refused: [] }
      for (const reference of references) {
        const to = readBackendRef(reference, namespace)
        if (to === undefined) continue
        const place = `${to.namespace}/${to.name}`
        const problem = linkProblem(context, { route, namespace, rule }, to)
        if (problem !== null) made.refused.push({ place, problem })
        else if (!made.members.includes(place)) made.members.push(place)
      }
      return [made]
    })
  },
}

export function isModelReference(fields: Fields): boolean {
  return fields.text('kind') === 'GwModel' && fields.text('group') === groupByKind.GwModel
}

/** Why a rule cannot use a GwModel; null when it can. */
function linkProblem(
  context: Context,
  { route, namespace, rule }: { route: string; namespace: string; rule: string },
  to: BackendReference,
): Unusable | null {
  const place = `${to.namespace}/${to.name}`
  if (!isGranted(context, { group: GATEWAY_GROUP, kind: 'HTTPRoute', namespace }, to)) {
    const message = `${printReference(to)} is in another namespace, and no ReferenceGrant there allows HTTPRoutes of ${namespace} to use it`
    return { reason: 'RefNotPermitted', message }
  }
  const known = context.keys('GwModel', { by: 'namespace', value: to.namespace })
  if (!known.includes(place)) {
    const suggestion = didYouMean(
      to.name,
      known.map((key) => key.slice(to.namespace.length + 1)),
    )
    return {
      reason: 'BackendNotFound',
      message: `GwModel ${place} not found${suggestion === null ? '' : ` (${suggestion})`}`,
    }
  }
  if (namesParent(context, `GwModel/${place}`, { parent: route, rule })) return null
  return { reason: 'RefNotPermitted', message: `GwModel ${place} does not name HTTPRoute ${route} in its parentRefs` }
}
