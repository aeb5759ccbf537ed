import type { RouteCandidate } from './candidate.ts'
import type { RoutableRequest } from './request.ts'

/** Candidates of one hostname. Exact and prefix paths are found by lookups, only regexes are tried one by one. */
export interface PathIndex<T> {
  /** In order of rank; notes each candidate that was compared when there is a list for it. */
  find(request: RoutableRequest, compared: RouteCandidate<T>[] | null): RouteCandidate<T> | null
}

/** Expects the candidates in order of rank. */
export function createPathIndex<T>(candidates: readonly RouteCandidate<T>[]): PathIndex<T> {
  const byExactPath = new Map<string, RouteCandidate<T>[]>()
  const byPrefix = new Map<string, RouteCandidate<T>[]>()
  const regexes: RouteCandidate<T>[] = []
  let maxSegments = 0
  let maxLength = 0
  for (const candidate of candidates) {
    const { pathPrefix, match } = candidate
    if (pathPrefix !== null) {
      push(byPrefix, pathPrefix, candidate)
      maxSegments = Math.max(maxSegments, countSlashes(pathPrefix))
      maxLength = Math.max(maxLength, pathPrefix.length)
    } else if (match.path.kind === 'exact') push(byExactPath, match.path.value, candidate)
    else regexes.push(candidate)
  }
  return { find }

  function find(request: RoutableRequest, compared: RouteCandidate<T>[] | null): RouteCandidate<T> | null {
    const { path } = request
    const exact = byExactPath.get(path)
    if (exact !== undefined) {
      for (const candidate of exact) if (holds(candidate, request, compared)) return candidate
    }
    let nextRegex = 0
    if (byPrefix.size > 0) {
      // From the longest prefix that can exist to the shortest, so that the lists come in order of rank.
      let end = endOfSegments(path, maxSegments)
      for (; end !== -1; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
        const list = end <= maxLength ? byPrefix.get(path.slice(0, end)) : undefined
        if (list === undefined) continue
        for (const candidate of list) {
          for (; nextRegex < regexes.length && regexes[nextRegex]!.rank < candidate.rank; nextRegex++) {
            if (holds(regexes[nextRegex]!, request, compared)) return regexes[nextRegex]!
          }
          if (holds(candidate, request, compared)) return candidate
        }
      }
    }
    for (; nextRegex < regexes.length; nextRegex++) {
      if (holds(regexes[nextRegex]!, request, compared)) return regexes[nextRegex]!
    }
    return null
  }
}

function holds<T>(
  candidate: RouteCandidate<T>,
  request: RoutableRequest,
  compared: RouteCandidate<T>[] | null,
): boolean {
  compared?.push(candidate)
  const { conditions } = candidate
  if (conditions === null) return true
  for (const condition of conditions) if (!condition(request)) return false
  return true
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

function countSlashes(text: string): number {
  let count = 0
  for (let slash = text.indexOf('/'); slash !== -1; slash = text.indexOf('/', slash + 1)) count++
  return count
}

/** Where a prefix of so many segments would have to end: before the next slash, or with the path. */
function endOfSegments(path: string, segments: number): number {
  let slash = path.indexOf('/')
  for (; slash !== -1 && segments > 0; segments--) slash = path.indexOf('/', slash + 1)
  return slash === -1 ? path.length : slash
}
