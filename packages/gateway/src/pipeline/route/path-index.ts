import type { RouteCandidate } from './candidate.ts'
import type { RoutableRequest } from './request.ts'

/** Candidates of one hostname. Exact and prefix paths are found by lookups, only regexes are tried one by one. */
export class PathIndex<T> {
  readonly #byExactPath = new Map<string, RouteCandidate<T>[]>()
  readonly #byPrefix = new Map<string, RouteCandidate<T>[]>()
  readonly #regexes: RouteCandidate<T>[] = []
  /** How many regexes have precedence over a prefix, where any has. */
  readonly #regexesBefore = new Map<RouteCandidate<T>, number>()
  #maxSegments = 0
  #maxLength = 0

  /** Expects the candidates in order of precedence. */
  constructor(candidates: readonly RouteCandidate<T>[]) {
    for (const candidate of candidates) {
      const { pathPrefix, match } = candidate
      if (pathPrefix !== null) this.#addPrefix(pathPrefix, candidate)
      else if (match.path.kind === 'exact') push(this.#byExactPath, match.path.value, candidate)
      else this.#regexes.push(candidate)
    }
  }

  /** In order of precedence; notes each candidate that was compared when there is a list for it. */
  find(request: RoutableRequest, compared: RouteCandidate<T>[] | null): RouteCandidate<T> | null {
    const { path } = request
    const exact = this.#byExactPath.get(path)
    if (exact !== undefined) {
      for (const candidate of exact) if (holds(candidate, request, compared)) return candidate
    }
    const regexes = this.#regexes
    let nextRegex = 0
    if (this.#byPrefix.size > 0) {
      // From the longest prefix that can exist to the shortest, so that the lists come in order of precedence.
      let end = endOfSegments(path, this.#maxSegments)
      for (; end !== -1; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
        const list = end <= this.#maxLength ? this.#byPrefix.get(path.slice(0, end)) : undefined
        if (list === undefined) continue
        for (const candidate of list) {
          const before = regexes.length === 0 ? 0 : (this.#regexesBefore.get(candidate) ?? 0)
          for (; nextRegex < before; nextRegex++) {
            const regex = regexes[nextRegex]
            if (regex !== undefined && holds(regex, request, compared)) return regex
          }
          if (holds(candidate, request, compared)) return candidate
        }
      }
    }
    for (; nextRegex < regexes.length; nextRegex++) {
      const regex = regexes[nextRegex]
      if (regex !== undefined && holds(regex, request, compared)) return regex
    }
    return null
  }

  #addPrefix(prefix: string, candidate: RouteCandidate<T>): void {
    push(this.#byPrefix, prefix, candidate)
    this.#maxSegments = Math.max(this.#maxSegments, countSlashes(prefix))
    this.#maxLength = Math.max(this.#maxLength, prefix.length)
    if (this.#regexes.length > 0) this.#regexesBefore.set(candidate, this.#regexes.length)
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
