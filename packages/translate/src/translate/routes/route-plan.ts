import { type FieldProblem, Fields } from '../../resources/fields.ts'
import type { RouteKind } from '../../resources/kinds.ts'
import { readParentRefs } from '../../resources/references.ts'
import type { Query } from '../context.ts'
import { ageOf } from '../precedence.ts'
import { findRoute } from '../attachment/parent-refs.ts'
import { isWithoutHostnames } from '../attachment/route-hostnames.ts'
import { planRule, type RulePlan } from './rule-plan.ts'

/** The translation of a route, independent of Gateways. */
export interface RoutePlan {
  kind: RouteKind
  namespace: string
  name: string
  labels: Readonly<Record<string, string>>
  generation: number
  /** A sort key: older routes first. */
  age: string
  hostnames: string[]
  rules: RulePlan[]
  problems: FieldProblem[]
}

/** The plan of a route, by `Kind/namespace/name`; null when it does not exist. */
export const routePlan: Query<RoutePlan | null> = {
  name: 'routePlan',
  compute(context, id) {
    const found = findRoute(id)
    const resource = found === null ? undefined : context.get(found.kind, found.key)
    if (found === null || resource === undefined) return null
    const { kind } = found
    const { namespace = '', name, labels = {}, generation = 0 } = resource.metadata
    const problems: FieldProblem[] = []
    const spec = new Fields(resource.spec, ['spec'], problems)
    readParentRefs(spec, namespace)
    const hostnames = isWithoutHostnames(kind) ? [] : spec.texts('hostnames').map((hostname) => hostname.toLowerCase())
    const raw = spec.raw('rules')
    if (spec.has('useDefaultGateways')) spec.raw('useDefaultGateways')
    spec.done()
    const rules = (Array.isArray(raw) ? raw : []).map((rule, index) =>
      planRule(context, { kind, namespace, name }, rule, index),
    )
    return { kind, namespace, name, labels, generation, age: ageOf(resource), hostnames, rules, problems }
  },
}
