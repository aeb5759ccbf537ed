import { attachmentsOf } from '../attachment/attachment.ts'
import type { Query } from '../context.ts'
import { addChildren, MOST_RULES } from './delegated-rules.ts'
import { withoutConflicts } from './kind-conflicts.ts'
import { listenersOf } from '../listeners/listeners.ts'
import { type RoutePlan, routePlan } from './route-plan.ts'
import { addRule, hasMatches, routeName, type RouteResources } from './rule-resources.ts'
import type { RulePlan } from './rule-plan.ts'

/**
 * The resources of a route at a Gateway, by `namespace/name` of the Gateway, a space, and `Kind/namespace/name` of the
 * route.
 */
export const routeResources: Query<RouteResources | null> = {
  name: 'routeResources',
  compute(context, place) {
    const [gateway = '', id = ''] = place.split(' ')
    const hostnamesByListener = new Map<string, string[]>()
    for (const attachment of context.read(attachmentsOf, id)) {
      if (attachment.gateway !== gateway) continue
      for (const { key, hostnames } of withoutConflicts(context, id, attachment))
        hostnamesByListener.set(key, hostnames)
    }
    if (hostnamesByListener.size === 0) return null
    const plan = context.read(routePlan, id)
    if (plan === null) return null
    const made: RouteResources = { age: plan.age, routes: [], backends: [], policies: [], filters: [], notServed: [] }
    for (const [listener, hostnames] of hostnamesByListener) {
      for (const [index, rule] of servedRules(plan).entries()) {
        const key = ruleKey(listener, routeName(plan), index)
        const at = { plan, rule, key, listener, hostnames, within: null, requestTimeout: undefined }
        const route = addRule(made, at)
        if (route === null) continue
        const own = context.read(listenersOf, gateway).find((each) => each.key === listener)
        const hosts = hostnames.length > 0 ? hostnames : [own?.hostname ?? '']
        addChildren(context, made, { ...at, route, hosts, room: MOST_RULES, level: 0 })
      }
    }
    return made
  },
}

/** The key of a rule in the IR, by its index in the route. */
export function ruleKey(listener: string, route: string, index: number): string {
  return `${listener}/${route}/${index}`
}

/** Returns the rules of a route that may get traffic: only the first one of connections without HTTP. */
export function servedRules({ kind, rules }: RoutePlan): RulePlan[] {
  return hasMatches(kind) ? rules : rules.slice(0, 1)
}
