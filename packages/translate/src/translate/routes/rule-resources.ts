import type { AttachedPolicy, Backend, Route, RouteBackend } from '@portico/gateway/ir'
import type { RouteKind } from '../../resources/kinds.ts'
import { toAttachedPolicy } from '../to-attached-policy.ts'
import type { Unusable } from '../materials.ts'
import type { RoutePlan } from './route-plan.ts'
import { type EntryPlan, httpWithTimeout } from './rule-entry.ts'
import type { RulePlan } from './rule-plan.ts'

/** The part of a Gateway's config that comes from one route, including the routes that it delegates to. */
export interface RouteResources {
  age: string
  routes: Route[]
  backends: Backend[]
  policies: AttachedPolicy[]
  /** GwFilters by `namespace/name`, with the key of each rule that they hold for. */
  filters: { filter: string; rule: string }[]
  /** Routes and rules to which the route delegates in vain. */
  notServed: UnservedChild[]
}

/** A route, or one of its rules, that is not served where another route delegates to it. */
export interface UnservedChild {
  /** As `namespace/name`. */
  child: string
  parent: string
  /** The name of the parent's rule. */
  section: string
  /** The index of the rule in the child; null for the whole child. */
  rule: number | null
  problem: Unusable
}

/** The position of a rule in the config of a Gateway. */
export interface RuleContext {
  plan: RoutePlan
  rule: RulePlan
  key: string
  listener: string
  hostnames: string[]
  /** The route that delegates to this rule; null for rules of routes that are attached to listeners. */
  within: string | null
  /** The limit of each call to a backend, from the rules that delegate; the rule's own limit wins. */
  requestTimeout: number | undefined
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

export function hasMatches(kind: RouteKind): boolean {
  return kind === 'HTTPRoute' || kind === 'GRPCRoute'
}

/** Adds a rule to the resources. Returns its route when the rule delegates, so that the caller adds the routes within. */
export function addRule({ routes, backends, policies, filters }: RouteResources, place: RuleContext): Route | null {
  const { plan, rule, key, listener, hostnames, within } = place
  const entries: RouteBackend[] = []
  const delegates = rule.refusal === null && rule.children.length > 0
  const route: Route = {
    key,
    listener,
    name: routeName(plan),
    rule: rule.name,
    labels: plan.labels,
    hostnames,
    matches: rule.matches,
    backends: entries,
    ...(delegates && { delegates }),
    ...(within !== null && { within }),
  }
  // A rule with invalid matches is dropped, because its requests are unknown.
  if (rule.refusal !== null && rule.matches.length === 0 && hasMatches(plan.kind)) return null
  routes.push(route)
  if (rule.refusal !== null) {
    const entry = `${key}/backend/0`
    entries.push({ key: entry, backend: entry, weight: 1 })
    backends.push(invalidBackend(entry, rule.refusal.message))
    return null
  }
  backends.push(...rule.called)
  if (rule.traffic !== null) policies.push(toAttachedPolicy({ kind: 'rule', key }, { traffic: rule.traffic }))
  filters.push(...rule.filters.map((filter) => ({ filter, rule: key })))
  if (delegates) return route
  for (const [position, written] of rule.entries.entries()) {
    const { to, weight, policies: own } = withRequestTimeout(written, place.requestTimeout)
    const entry = `${key}/backend/${position}`
    const backend = 'reason' in to ? invalidBackend(entry, to.message) : to.backend
    entries.push({ key: entry, backend: backend.key, weight })
    backends.push(backend)
    if (own !== null) policies.push(toAttachedPolicy({ kind: 'backend', key: entry }, { backend: own }))
  }
  return null
}

function invalidBackend(key: string, reason: string): Backend {
  return { key, name: 'invalid', target: { kind: 'invalid', reason } }
}

function withRequestTimeout(entry: EntryPlan, requestTimeout: number | undefined): EntryPlan {
  if (requestTimeout === undefined || entry.policies?.http !== undefined) return entry
  return { ...entry, policies: { ...entry.policies, http: httpWithTimeout(entry.to, requestTimeout) } }
}
