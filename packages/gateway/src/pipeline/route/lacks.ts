import type { RouteCandidate } from './candidate.ts'
import { headerCondition, pathCondition, queryCondition } from './conditions.ts'
import { createHostnameTable } from './hostname.ts'
import type { RoutableRequest } from './request.ts'

/** Why a route was not taken. */
export interface Rejection {
  /** Key of the route. */
  route: string
  /** Position in its `matches`. */
  match: number
  /** In words; nothing of the values that the config expects, which may be secrets. */
  lacks: string[]
}

/** The candidates that came nearest to the request, with what it lacked for each. Slow: for somebody who watches. */
export function nearestRejections<T>(
  candidates: readonly { hostnames: readonly string[]; candidate: RouteCandidate<T> }[],
  request: RoutableRequest,
): Rejection[] {
  return candidates
    .map(({ hostnames, candidate }) => {
      const lacks = lacksOf(candidate, hostnames, request)
      return { route: candidate.routeKey, match: candidate.matchIndex, lacks }
    })
    .toSorted((one, other) => one.lacks.length - other.lacks.length)
    .slice(0, MOST)
}

/** More than anybody reads; a listener may have ten thousand. */
const MOST = 20

function lacksOf<T>(
  { match, pathPrefix }: RouteCandidate<T>,
  hostnames: readonly string[],
  request: RoutableRequest,
): string[] {
  const lacks: string[] = []
  if (hostnames.length > 0 && createHostnameTable(hostnames.map((name) => [name, true])).best(request.host) === null) {
    lacks.push(`hostname ${hostnames.slice(0, 4).join(' or ')}${hostnames.length > 4 ? ' or others' : ''}`)
  }
  const { path, method } = match
  if (!pathCondition(path, pathPrefix)(request)) lacks.push(`path ${PATH_WORDS[path.kind]} ${path.value}`)
  if (method !== null && method !== request.method) lacks.push(`method ${method}`)
  for (const header of match.headers) if (!headerCondition(header)(request)) lacks.push(`header ${header.name}`)
  for (const query of match.query) if (!queryCondition(query)(request)) lacks.push(`query parameter ${query.name}`)
  return lacks
}

const PATH_WORDS = { exact: 'exactly', pathPrefix: 'below', regex: 'like' } as const
