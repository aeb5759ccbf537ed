import type { Route, RouteMatch } from '../../ir/resources.ts'
import type { Condition } from './conditions.ts'
import { compileConditions } from './conditions.ts'

/** One match of one route, ready to be compared with requests. */
export interface RouteCandidate<T> {
  value: T
  routeKey: string
  match: RouteMatch
  /** Position in the route's `matches`. */
  matchIndex: number
  /** The matched prefix without trailing slashes, null for other kinds of path. */
  pathPrefix: string | null
  /** Place in the order of precedence of the whole table; the lowest that fits wins. */
  rank: number
  conditions: readonly Condition[] | null
}

/** All candidates of the routes with the hostnames of their route, in order of precedence. */
export function rankedCandidates<T>(
  routes: readonly { route: Route; value: T }[],
): { hostnames: string[]; candidate: RouteCandidate<T> }[] {
  const entries = routes.flatMap(({ route, value }) =>
    route.matches.map((match, matchIndex) => {
      const pathPrefix = match.path.kind === 'pathPrefix' ? trimPrefix(match.path.value) : null
      return {
        hostnames: route.hostnames,
        order: route.order,
        pathLength: (pathPrefix ?? match.path.value).length,
        candidate: {
          value,
          routeKey: route.key,
          match,
          matchIndex,
          pathPrefix,
          rank: 0,
          conditions: compileConditions(match),
        },
      }
    }),
  )
  entries.sort(
    (left, right) =>
      exactFirst(left.candidate.match) - exactFirst(right.candidate.match) ||
      right.pathLength - left.pathLength ||
      methodFirst(left.candidate.match) - methodFirst(right.candidate.match) ||
      right.candidate.match.headers.length - left.candidate.match.headers.length ||
      right.candidate.match.query.length - left.candidate.match.query.length ||
      left.order - right.order ||
      left.candidate.matchIndex - right.candidate.matchIndex,
  )
  entries.forEach((entry, rank) => (entry.candidate.rank = rank))
  return entries
}

/** A trailing slash of a prefix means nothing: `/a/` and `/a` match the same paths, and `/` matches all. */
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
