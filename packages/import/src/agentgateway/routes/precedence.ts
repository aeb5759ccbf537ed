import type { HttpMatch } from '../../http/model.ts'
import { canOverlap } from '../../http/overlap.ts'
import type { ReadRoute } from './routes.ts'

/** The rank of a match among the matches for one host. A match with a smaller rank is tried first. */
export function rankOf({ path, method, headers, query }: HttpMatch): readonly number[] {
  const length = path === null ? 1 : path.kind === 'pattern' ? path.regex.length : path.path.length
  return [path?.kind === 'exact' ? 0 : 1, -length, method === null ? 1 : 0, -headers.length, -query.length]
}

/** The rank of a host: exact names come first, then longer wildcards, then the rule for every host. */
export function hostRank(host: string | null): readonly number[] {
  if (host === null) return [2, 0]
  return host.startsWith('*.') ? [1, -host.length] : [0, 0]
}

export function compareRanks(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const NO_MATCH: HttpMatch = { path: null, method: null, headers: [], query: [] }

export function matchesOf({ matches }: ReadRoute): readonly HttpMatch[] {
  return matches.length === 0 ? [NO_MATCH] : matches.map(({ match }) => match)
}

/**
 * Sorts routes for the case that two of their matches are equal. agentgateway then chooses the route whose name comes
 * first in the alphabet, and Portico chooses the first in the list.
 */
export function inOrderOfKeys(routes: readonly ReadRoute[]): readonly ReadRoute[] {
  const isTied = routes.some((route, index) =>
    routes.slice(0, index).some((earlier) => keyOf(earlier) > keyOf(route) && canTie(earlier, route)),
  )
  return isTied ? routes.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)) : routes
}

export function keyOf({ namespace, name }: ReadRoute): string {
  return `${namespace}/${name}`
}

function canTie(one: ReadRoute, other: ReadRoute): boolean {
  const sharesHost =
    one.hostnames.length === 0
      ? other.hostnames.length === 0
      : one.hostnames.some((host) => typeof host !== 'string' || other.hostnames.includes(host))
  return (
    sharesHost &&
    matchesOf(one).some((match) =>
      matchesOf(other).some((each) => compareRanks(rankOf(match), rankOf(each)) === 0 && canOverlap(match, each)),
    )
  )
}
