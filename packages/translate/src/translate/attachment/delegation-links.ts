import { Fields } from '../../resources/fields.ts'
import { GATEWAY_GROUP } from '../../resources/kinds.ts'
import { type BackendReference, printReference, readBackendRef } from '../../resources/references.ts'
import type { Context, Query } from '../context.ts'
import { isGranted } from '../grants.ts'
import type { Unusable } from '../materials.ts'
import { parentRefsOf } from './parent-refs.ts'

/**
 * A rule of an HTTPRoute may delegate to other HTTPRoutes. A link exists when both sides name each other: the rule by a
 * backendRef, the other route by a parentRef.
 */

/** The number of routes that may be above a route. */
export const MOST_LEVELS = 4

export function isRouteReference(fields: Fields): boolean {
  return fields.text('kind') === 'HTTPRoute' && fields.text('group') === GATEWAY_GROUP
}

/** Why a rule cannot delegate to the route that it refers to; null when it can. */
export function linkProblem(
  context: Context,
  from: { namespace: string; name: string; rule: string },
  to: BackendReference,
): Unusable | null {
  const [parent, child] = [`${from.namespace}/${from.name}`, `${to.namespace}/${to.name}`]
  if (!isGranted(context, { group: GATEWAY_GROUP, kind: 'HTTPRoute', namespace: from.namespace }, to)) {
    const message = `${printReference(to)} is in another namespace, and no ReferenceGrant there allows HTTPRoutes of ${from.namespace} to use it`
    return { reason: 'RefNotPermitted', message }
  }
  if (!context.read(routeExists, child)) return { reason: 'BackendNotFound', message: `HTTPRoute ${child} not found` }
  if (!namesParent(context, `HTTPRoute/${child}`, { parent, rule: from.rule })) {
    const message = `HTTPRoute ${child} does not name HTTPRoute ${parent} in its parentRefs`
    return { reason: 'RefNotPermitted', message }
  }
  if (child === parent || levels(context, child, linkedChildren).some((level) => level.has(parent))) {
    return { reason: 'UnsupportedValue', message: `HTTPRoute ${child} delegates back to HTTPRoute ${parent}` }
  }
  return null
}

/** All routes above an HTTPRoute, by `namespace/name`; more levels than can be used are left out. */
export function routesAbove(context: Context, route: string): string[] {
  return [...new Set(levels(context, route, linkedParents).flatMap((level) => [...level]))]
}

/** Follows links from a route, level by level; longer chains cannot be used. */
function levels(context: Context, from: string, links: Query<string[]>): Set<string>[] {
  const found: Set<string>[] = []
  let level = new Set([from])
  while (found.length < MOST_LEVELS) {
    level = new Set([...level].flatMap((route) => context.read(links, route)))
    if (level.size === 0) break
    found.push(level)
  }
  return found
}

const routeExists: Query<boolean> = {
  name: 'routeExists',
  compute: (context, key) => context.get('HTTPRoute', key) !== undefined,
}

/** The HTTPRoutes that the rules of an HTTPRoute refer to, with the name of the rule. */
const referredRoutes: Query<{ child: string; rule: string }[]> = {
  name: 'referredRoutes',
  compute(context, key) {
    const resource = context.get('HTTPRoute', key)
    return new Fields(resource?.spec, ['spec'], []).objects('rules').flatMap((rule) =>
      rule
        .objects('backendRefs')
        .filter(isRouteReference)
        .flatMap((fields) => readBackendRef(fields, resource?.metadata.namespace ?? '') ?? [])
        .map(({ namespace, name }) => ({ child: `${namespace}/${name}`, rule: rule.text('name') ?? '' })),
    )
  },
}

const linkedChildren: Query<string[]> = {
  name: 'linkedChildren',
  compute(context, parent) {
    const linked = context
      .read(referredRoutes, parent)
      .filter(({ child, rule }) => namesParent(context, `HTTPRoute/${child}`, { parent, rule }))
    return [...new Set(linked.map(({ child }) => child))]
  },
}

const linkedParents: Query<string[]> = {
  name: 'linkedParents',
  compute(context, child) {
    const parents = context
      .read(parentRefsOf, `HTTPRoute/${child}`)
      .filter(({ group, kind }) => group === GATEWAY_GROUP && kind === 'HTTPRoute')
      .map(({ namespace, name }) => `${namespace}/${name}`)
    return [...new Set(parents)].filter((parent) => context.read(linkedChildren, parent).includes(child))
  },
}

/** Whether a parentRef of `Kind/namespace/name` names the parent, and with a sectionName the rule too. */
export function namesParent(
  context: Context,
  child: string,
  { parent, rule }: { parent: string; rule: string },
): boolean {
  return context
    .read(parentRefsOf, child)
    .some(
      ({ group, kind, namespace, name, sectionName = rule, port }) =>
        group === GATEWAY_GROUP &&
        kind === 'HTTPRoute' &&
        `${namespace}/${name}` === parent &&
        sectionName === rule &&
        port === undefined,
    )
}
