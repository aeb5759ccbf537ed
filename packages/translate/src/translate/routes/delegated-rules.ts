import type { Route, RouteMatch } from '@portico/gateway/ir'
import type { Context } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { compare } from '../precedence.ts'
import { MOST_LEVELS } from '../attachment/delegation-links.ts'
import { intersection } from '../attachment/hostnames.ts'
import { type RoutePlan, routePlan } from './route-plan.ts'
import { addRule, routeName, type RouteResources, type RuleContext } from './rule-resources.ts'

/**
 * The number of rules that a route may have below it, at each listener. Every route that it delegates to gets an equal
 * share, so that the rules of one cannot displace those of another.
 */
export const MOST_RULES = 4096

interface DelegatingRule extends RuleContext {
  route: Route
  /** The hostnames of requests that reach the rule; an empty one stands for all. */
  hosts: readonly string[]
  room: number
  /** The number of routes above it. */
  level: number
}

/** Adds the rules of the HTTPRoutes that a rule delegates to, the oldest HTTPRoute first. */
export function addChildren(context: Context, made: RouteResources, parent: DelegatingRule): void {
  const { plan, rule, route, hosts, listener } = parent
  const links = plan.rules.reduce((sum, each) => sum + each.children.length, 0)
  const share = Math.floor(parent.room / Math.max(1, links))
  const children = rule.children.flatMap((key) => context.read(routePlan, `HTTPRoute/${key}`) ?? [])
  for (const child of children.toSorted((one, other) => compare(one.age, other.age))) {
    const name = routeName(child)
    const refuse = (problem: Unusable, index: number | null): void =>
      void made.notServed.push({ child: name, parent: routeName(plan), section: rule.name, rule: index, problem })
    const hostnames = sharedHostnames(hosts, child)
    const room = share - child.rules.length
    if (hostnames === null || room < 0 || parent.level === MOST_LEVELS) {
      refuse(hostnames === null ? notItsHostname(plan) : room < 0 ? tooManyRules(share) : TOO_DEEP, null)
      continue
    }
    const before = made.routes.length
    for (const [index, own] of child.rules.entries()) {
      if (own.matches.length > 0 && !own.matches.some((match) => route.matches.some((each) => canMeet(each, match)))) {
        refuse(outside(plan), index)
        continue
      }
      const at = {
        plan: child,
        rule: own,
        key: `${route.key}>${name}/${index}`,
        listener,
        hostnames,
        within: route.key,
        requestTimeout: rule.requestTimeout ?? parent.requestTimeout,
      }
      const next = addRule(made, at)
      if (next === null) continue
      const below = { route: next, hosts: hostnames.length > 0 ? hostnames : hosts, room, level: parent.level + 1 }
      addChildren(context, made, { ...at, ...below })
    }
    if (made.routes.length === before) refuse(outside(plan), null)
  }
}

/** The hostnames of a child that requests of its parent can have; null when there are none. */
function sharedHostnames(hosts: readonly string[], { hostnames }: RoutePlan): string[] | null {
  if (hostnames.length === 0) return []
  const shared = hostnames.filter((name) => hosts.some((host) => intersection(host, name) !== null))
  return shared.length === 0 ? null : [...new Set(shared)]
}

/** Whether a request can match both. Regular expressions and headers are not compared, so the result may be too good. */
function canMeet(one: RouteMatch, other: RouteMatch): boolean {
  return (
    (one.method === null || other.method === null || one.method === other.method) && pathsMeet(one.path, other.path)
  )
}

type PathMatch = RouteMatch['path']

function pathsMeet(one: PathMatch, other: PathMatch): boolean {
  if (one.kind === 'regex' || other.kind === 'regex') return true
  if (one.kind === 'exact' && other.kind === 'exact') return one.value === other.value
  if (one.kind === 'exact') return isWithin(one.value, other.value)
  return isWithin(other.value, one.value) || (other.kind === 'pathPrefix' && isWithin(one.value, other.value))
}

function isWithin(path: string, prefix: string): boolean {
  const start = prefix.replace(/\/+$/, '')
  return path === start || path.startsWith(`${start}/`)
}

function notItsHostname({ namespace, name }: RoutePlan): Unusable {
  const message = `No hostname of the route is one of HTTPRoute ${namespace}/${name}`
  return { reason: 'NoMatchingListenerHostname', message }
}

const TOO_DEEP: Unusable = {
  reason: 'UnsupportedValue',
  message: `The route has more than ${MOST_LEVELS} levels of routes above it`,
}

function tooManyRules(share: number): Unusable {
  const message = `The route has more rules than the ${share} that it may have below this parent`
  return { reason: 'UnsupportedValue', message }
}

function outside({ namespace, name }: RoutePlan): Unusable {
  const message = `No match can be met within the rule of HTTPRoute ${namespace}/${name} that delegates to it`
  return { reason: 'UnsupportedValue', message }
}
