import type { RouteMatch, RouteRule } from './route-rule.ts'
import type { Condition } from './conditions.ts'
import { compileConditions } from './conditions.ts'
import { canonicalHostname } from './hostname.ts'

/** One match of one route, compiled. */
export interface RouteCandidate<T> {
  value: T
  routeKey: string
  match: RouteMatch
  /** Position in the route's `matches`. */
  matchIndex: number
  /** The matched prefix without trailing slashes, null for other kinds of path. */
  pathPrefix: string | null
  conditions: readonly Condition[] | null
}

/** A candidate with the values that decide its precedence. */
export interface RankedCandidate<T> {
  candidate: RouteCandidate<T>
  hostnames: readonly string[]
  pathLength: number
  position: RoutePosition
}

/** The position of a route among the routes of its listener, which decides ties. */
export interface RoutePosition {
  order: number
}

export function candidatesOf<T>(route: RouteRule, value: T, position: RoutePosition): RankedCandidate<T>[] {
  const hostnames =
    route.hostnames.length === 0 ? EVERY_HOST : [...new Set(route.hostnames.map((name) => canonicalHostname(name)))]
  return route.matches.map((match, matchIndex) => {
    const pathPrefix = match.path.kind === 'pathPrefix' ? trimPrefix(match.path.value) : null
    const conditions = compileConditions(match)
    return {
      candidate: { value, routeKey: route.key, match, matchIndex, pathPrefix, conditions },
      hostnames,
      pathLength: (pathPrefix ?? match.path.value).length,
      position,
    }
  })
}

const EVERY_HOST: readonly string[] = ['']

/** Compares candidates by precedence, in the order of the Gateway API. */
export function byPrecedence(left: RankedCandidate<unknown>, right: RankedCandidate<unknown>): number {
  const [one, other] = [left.candidate.match, right.candidate.match]
  return (
    exactFirst(one) - exactFirst(other) ||
    right.pathLength - left.pathLength ||
    methodFirst(one) - methodFirst(other) ||
    other.headers.length - one.headers.length ||
    other.query.length - one.query.length ||
    left.position.order - right.position.order ||
    left.candidate.matchIndex - right.candidate.matchIndex
  )
}

/** Removes trailing slashes: `/a/` and `/a` match the same paths, and `/` matches all. */
function trimPrefix(prefix: string): string {
  let end = prefix.length
  while (end > 0 && prefix[end - 1] === '/') end--
  return prefix.slice(0, end)
}

function exactFirst(match: RouteMatch): number {
  return match.path.kind === 'exact' ? 0 : 1
}

function methodFirst(match: RouteMatch): number {
  return match.method === null ? 1 : 0
}
