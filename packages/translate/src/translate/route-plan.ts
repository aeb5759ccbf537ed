import { type FieldProblem, Fields } from '../resources/fields.ts'
import { type RouteKind, routeKinds } from '../resources/kinds.ts'
import { type ParentRef, readParentRefs } from '../resources/references.ts'
import type { Resource } from '../resources/resource.ts'
import type { Query } from './context.ts'
import { ageOf } from './precedence.ts'
import { planRule, type RulePlan } from './rule-plan.ts'

/** A route, whatever Gateways it is for. */
export interface RoutePlan {
  kind: RouteKind
  namespace: string
  name: string
  labels: Readonly<Record<string, string>>
  generation: number
  /** Sorts older ones first. */
  age: string
  hostnames: string[]
  rules: RulePlan[]
  problems: FieldProblem[]
}

/** By `Kind/namespace/name`; null when there is none. */
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
    const hostnames = kind === 'TCPRoute' ? [] : spec.texts('hostnames').map((hostname) => hostname.toLowerCase())
    const raw = spec.raw('rules')
    if (spec.has('useDefaultGateways')) spec.raw('useDefaultGateways')
    spec.done()
    const rules = (Array.isArray(raw) ? raw : []).map((rule, index) =>
      planRule(context, { kind, namespace }, rule, index),
    )
    return { kind, namespace, name, labels, generation, age: ageOf(resource), hostnames, rules, problems }
  },
}

/** Where a route wants to attach, by `Kind/namespace/name`. */
export const parentRefsOf: Query<ParentRef[]> = {
  name: 'parentRefsOf',
  compute(context, id) {
    const found = findRoute(id)
    const resource = found === null ? undefined : context.get(found.kind, found.key)
    if (resource === undefined) return []
    return readParentRefs(specOf(resource), resource.metadata.namespace ?? '')
  },
}

/** What a listener looks at: everything of a route but its rules. */
export const routeHostnames: Query<string[]> = {
  name: 'routeHostnames',
  compute(context, id) {
    const found = findRoute(id)
    const resource = found === null ? undefined : context.get(found.kind, found.key)
    if (resource === undefined || found?.kind === 'TCPRoute') return []
    return specOf(resource)
      .texts('hostnames')
      .map((hostname) => hostname.toLowerCase())
  },
}

export function findRoute(id: string): { kind: RouteKind; key: string } | null {
  const slash = id.indexOf('/')
  const kind = id.slice(0, slash)
  const found = routeKinds.find((each) => each === kind)
  return found === undefined ? null : { kind: found, key: id.slice(slash + 1) }
}

function specOf({ spec }: Resource): Fields {
  return new Fields(spec, ['spec'], [])
}
