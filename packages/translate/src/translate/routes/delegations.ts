import { GATEWAY_GROUP } from '../../resources/kinds.ts'
import type { ParentRef } from '../../resources/references.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { attachmentsOf } from '../attachment/attachment.ts'
import { routesAbove } from '../attachment/delegation-links.ts'
import { parentRefsOf } from '../attachment/parent-refs.ts'
import { routePlan } from './route-plan.ts'
import { routeResources } from './route-resources.ts'
import type { RouteResources, UnservedChild } from './rule-resources.ts'

/** A parent of a route that is an HTTPRoute at one of our Gateways. */
export interface ParentDelegation {
  ref: ParentRef
  refusal: Unusable | null
  /** Rules that this parent does not serve. */
  dropped: { index: number; problem: Unusable }[]
}

/** The HTTPRoutes above a route, by `Kind/namespace/name`. Those that reach no Gateway of ours are left out. */
export const delegationsOf: Query<ParentDelegation[]> = {
  name: 'delegationsOf',
  compute(context, id) {
    const child = id.slice(id.indexOf('/') + 1)
    const parents = context
      .read(parentRefsOf, id)
      .filter(({ group, kind }) => group === GATEWAY_GROUP && kind === 'HTTPRoute')
    return parents.flatMap((ref) => {
      const parent = `${ref.namespace}/${ref.name}`
      const roots = [parent, ...routesAbove(context, parent)]
      if (!roots.some((root) => context.read(attachmentsOf, `HTTPRoute/${root}`).length > 0)) return []
      const refusal = id.startsWith('HTTPRoute/') ? linkRefusal(context, ref, child) : onlyHttp(ref)
      if (refusal !== null) return [{ ref, refusal, dropped: [] }]
      const isHere = ({ child: name, parent: above, section }: Omit<UnservedChild, 'rule' | 'problem'>): boolean =>
        name === child && above === parent && (ref.sectionName === undefined || ref.sectionName === section)
      const found = roots.flatMap((root) => resourcesAt(context, root))
      const served = new Set(found.flatMap((made) => linksIn(made).filter(isHere)).map(({ rule }) => rule))
      const unserved = found.flatMap(({ notServed }) => notServed.filter(isHere))
      return [{ ref, ...summarize(served, unserved, parent) }]
    })
  },
}

/** The keys of the rules of a route below other routes, by `namespace/name` of the Gateway, a space, and the route's id. */
export const delegatedRules: Query<{ listener: string; key: string; index: number }[]> = {
  name: 'delegatedRules',
  compute(context, place) {
    const [gateway = '', id = ''] = place.split(' ')
    const child = id.slice(id.indexOf('/') + 1)
    if (!id.startsWith('HTTPRoute/')) return []
    return routesAbove(context, child)
      .flatMap((root) => context.read(routeResources, `${gateway} HTTPRoute/${root}`)?.routes ?? [])
      .filter(({ name, within }) => name === child && within !== undefined)
      .map(({ listener, key }) => ({ listener, key, index: indexIn(key) }))
  },
}

/** Our Gateways that serve a route, by its id: directly, or because other routes delegate to it. */
export const gatewaysServing: Query<string[]> = {
  name: 'gatewaysServing',
  compute(context, id) {
    const own = context.read(attachmentsOf, id).filter(({ listeners }) => listeners.length > 0)
    const above = id.startsWith('HTTPRoute/') ? routesAbove(context, id.slice(id.indexOf('/') + 1)) : []
    const others = above
      .flatMap((root) => context.read(attachmentsOf, `HTTPRoute/${root}`))
      .filter(({ gateway }) => context.read(delegatedRules, `${gateway} ${id}`).length > 0)
    return [...new Set([...own, ...others].map(({ gateway }) => gateway))]
  },
}

/** Why the routes that an HTTPRoute delegates to are not served, in words. */
export function unservedChildren(context: Context, parent: string): string[] {
  const notes = [parent, ...routesAbove(context, parent)]
    .flatMap((root) => resourcesAt(context, root))
    .flatMap(({ notServed }) => notServed)
    .filter((each) => each.parent === parent && each.rule === null)
    .map(({ child, problem }) => `HTTPRoute ${child} is not served: ${problem.message}`)
  return [...new Set(notes)]
}

/** Why the parent does not delegate to the child; null when it does. */
function linkRefusal(context: Context, ref: ParentRef, child: string): Unusable | null {
  const name = `${ref.namespace}/${ref.name}`
  const rules = (context.read(routePlan, `HTTPRoute/${name}`)?.rules ?? []).filter(
    (rule) => ref.sectionName === undefined || rule.name === ref.sectionName,
  )
  if (ref.port === undefined && rules.some(({ children, refusal }) => refusal === null && children.includes(child)))
    return null
  const problem =
    rules.flatMap(({ refusedChildren }) => refusedChildren).find((each) => each.child === child)?.problem ??
    rules.find(({ children, refusal }) => refusal !== null && children.includes(child))?.refusal
  return {
    reason: 'NoMatchingParent',
    message: `HTTPRoute ${name} does not delegate to this route${problem === undefined || problem === null ? '' : `: ${problem.message}`}`,
  }
}

function onlyHttp({ namespace, name }: ParentRef): Unusable {
  return { reason: 'NoMatchingParent', message: `HTTPRoute ${namespace}/${name} can only delegate to HTTPRoutes` }
}

function summarize(
  served: ReadonlySet<number>,
  unserved: readonly UnservedChild[],
  parent: string,
): Omit<ParentDelegation, 'ref'> {
  const dropped = unserved.flatMap(({ rule, problem }) =>
    rule === null || served.has(rule) ? [] : [{ index: rule, problem }],
  )
  if (served.size > 0) return { refusal: null, dropped }
  const [first] = unserved
  const message = `HTTPRoute ${parent} is not served by any listener`
  return { refusal: first?.problem ?? { reason: 'NoMatchingParent', message }, dropped: [] }
}

function resourcesAt(context: Context, root: string): RouteResources[] {
  const gateways = new Set(context.read(attachmentsOf, `HTTPRoute/${root}`).map(({ gateway }) => gateway))
  return [...gateways].flatMap((gateway) => context.read(routeResources, `${gateway} HTTPRoute/${root}`) ?? [])
}

/** The rules within other routes, with the route and rule that delegate to them. */
function linksIn({ routes }: RouteResources): { child: string; parent: string; section: string; rule: number }[] {
  const byKey = new Map(routes.map((route) => [route.key, route]))
  return routes.flatMap(({ key, name, within = '' }) => {
    const parent = byKey.get(within)
    return parent === undefined ? [] : [{ child: name, parent: parent.name, section: parent.rule, rule: indexIn(key) }]
  })
}

function indexIn(key: string): number {
  return Number(key.slice(key.lastIndexOf('/') + 1))
}
