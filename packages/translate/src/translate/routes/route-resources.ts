import type { AttachedPolicy, Backend, Route, RouteBackend } from '@portico/gateway/ir'
import type { RouteKind } from '../../resources/kinds.ts'
import { toAttachedPolicy } from '../to-attached-policy.ts'
import { attachmentsOf } from './attachment.ts'
import type { Query } from '../context.ts'
import { withoutConflicts } from './kind-conflicts.ts'
import { type RoutePlan, routePlan } from './route-plan.ts'
import type { RulePlan } from './rule-plan.ts'

/** The part of a Gateway's config that comes from one route. */
export interface RouteResources {
  age: string
  routes: Route[]
  backends: Backend[]
  policies: AttachedPolicy[]
}

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
    const made: RouteResources = { age: plan.age, routes: [], backends: [], policies: [] }
    for (const [listener, hostnames] of hostnamesByListener) {
      for (const [index, rule] of servedRules(plan).entries()) addRule(made, { plan, rule, index, listener, hostnames })
    }
    return made
  },
}

/** Suffixes with a colon, which no name contains, because routes of different kinds may share a name. */
const suffixByKind: Record<RouteKind, string> = {
  HTTPRoute: '',
  GRPCRoute: ':grpc',
  TLSRoute: ':tls',
  TCPRoute: ':tcp',
  UDPRoute: ':udp',
}

/** The name of a route in the IR; policies attach to `<listener key>/<name>`. */
export function routeName({ kind, namespace, name }: Pick<RoutePlan, 'kind' | 'namespace' | 'name'>): string {
  return `${namespace}/${name}${suffixByKind[kind]}`
}

/** The key of a rule in the IR, by its index in the route. */
export function ruleKey(listener: string, route: string, index: number): string {
  return `${listener}/${route}/${index}`
}

interface RuleContext {
  plan: RoutePlan
  rule: RulePlan
  index: number
  listener: string
  hostnames: string[]
}

function addRule({ routes, backends, policies }: RouteResources, place: RuleContext): void {
  const { plan, rule, index, listener, hostnames } = place
  const name = routeName(plan)
  const key = ruleKey(listener, name, index)
  const invalid = (entry: string, reason: string): Backend => ({
    key: entry,
    name: 'invalid',
    target: { kind: 'invalid', reason },
  })
  const entries: RouteBackend[] = []
  const route: Route = {
    key,
    listener,
    name,
    rule: rule.name,
    labels: plan.labels,
    hostnames,
    matches: rule.matches,
    backends: entries,
  }
  // A rule with invalid matches is dropped, because its requests are unknown.
  if (rule.refusal !== null && rule.matches.length === 0 && hasMatches(plan.kind)) return
  routes.push(route)
  if (rule.refusal !== null) {
    const entry = `${key}/backend/0`
    entries.push({ key: entry, backend: entry, weight: 1 })
    backends.push(invalid(entry, rule.refusal.message))
    return
  }
  backends.push(...rule.called)
  if (rule.traffic !== null) policies.push(toAttachedPolicy({ kind: 'rule', key }, { traffic: rule.traffic }))
  for (const [position, { to, weight, policies: own }] of rule.entries.entries()) {
    const entry = `${key}/backend/${position}`
    const backend = 'reason' in to ? invalid(entry, to.message) : to.backend
    entries.push({ key: entry, backend: backend.key, weight })
    backends.push(backend)
    if (own !== null) policies.push(toAttachedPolicy({ kind: 'backend', key: entry }, { backend: own }))
  }
}

/** Returns the rules of a route that may get traffic: only the first one of connections without HTTP. */
export function servedRules({ kind, rules }: RoutePlan): RulePlan[] {
  return hasMatches(kind) ? rules : rules.slice(0, 1)
}

function hasMatches(kind: RouteKind): boolean {
  return kind === 'HTTPRoute' || kind === 'GRPCRoute'
}
