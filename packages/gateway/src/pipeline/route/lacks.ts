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

/**
 * Returns the routes that nearly matched, with the reasons why they did not. This is slow, and runs only for traced
 * requests.
 */
export function nearestRejections<T>(
  candidates: readonly { hostnames: readonly string[]; candidate: RouteCandidate<T> }[],
  request: RoutableRequest,
): Rejection[] {
  return candidates
    .map(({ hostnames, candidate }) => {
      const lacks = lacksOf(candidate, hostnames, request)
      const distance = lacks.reduce((sum, { weight }) => sum + weight, 0)
      const shared = sharedLength(candidate.match.path.value, request.path)
      return { route: candidate.routeKey, match: candidate.matchIndex, lacks, distance, shared }
    })
    .toSorted((one, other) => one.distance - other.distance || other.shared - one.shared)
    .slice(0, MOST)
    .map(({ route, match, lacks }) => ({ route, match, lacks: lacks.map(({ text }) => text) }))
}

/** More than anybody reads; a listener may have ten thousand. */
const MOST = 20

/** A condition of a route that the request does not meet. */
interface Lack {
  text: string
  weight: number
}

/** Distance of an unmet condition: another method is the same resource, another path or host is a different one. */
const WEIGHTS = { hostname: 8, path: 4, header: 2, query: 2, method: 1 } as const

function sharedLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}

function lacksOf<T>(
  { match, pathPrefix }: RouteCandidate<T>,
  hostnames: readonly string[],
  request: RoutableRequest,
): Lack[] {
  const lacks: Lack[] = []
  const lack = (kind: keyof typeof WEIGHTS, text: string): void => void lacks.push({ text, weight: WEIGHTS[kind] })
  if (hostnames.length > 0 && createHostnameTable(hostnames.map((name) => [name, true])).best(request.host) === null) {
    lack('hostname', `hostname ${hostnames.slice(0, 4).join(' or ')}${hostnames.length > 4 ? ' or others' : ''}`)
  }
  const { path, method } = match
  if (!pathCondition(path, pathPrefix)(request)) lack('path', `path ${PATH_WORDS[path.kind]} ${path.value}`)
  if (method !== null && method !== request.method) lack('method', `method ${method}`)
  for (const header of match.headers) if (!headerCondition(header)(request)) lack('header', `header ${header.name}`)
  for (const query of match.query) if (!queryCondition(query)(request)) lack('query', `query parameter ${query.name}`)
  return lacks
}

const PATH_WORDS = { exact: 'exactly', pathPrefix: 'below', regex: 'like' } as const
