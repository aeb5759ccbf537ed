import type { RouteMatch, ValueMatch } from './route-rule.ts'
import { compileRegex } from '@portico/regex'
import { firstQueryValue } from './query.ts'
import type { RoutableRequest } from './request.ts'

/** A test of a request besides its path, which the index of paths has already matched. */
export type Condition = (request: RoutableRequest) => boolean

/** Returns the conditions of a match, all of which must be true; null without conditions. */
export function compileConditions(match: RouteMatch): readonly Condition[] | null {
  const conditions: Condition[] = []
  const { method, path } = match
  if (method !== null) conditions.push((request) => request.method === method)
  if (path.kind === 'regex') {
    const fits = regexTest(path.value)
    conditions.push((request) => fits(request.path))
  }
  conditions.push(...match.headers.map(headerCondition), ...match.query.map(queryCondition))
  return conditions.length === 0 ? null : conditions
}

/** Returns the condition on the path alone, for explanations; at run time the index of paths matches it. */
export function pathCondition({ kind, value }: RouteMatch['path'], pathPrefix: string | null): Condition {
  if (kind === 'exact') return ({ path }) => path === value
  if (pathPrefix !== null) return ({ path }) => path === pathPrefix || path.startsWith(`${pathPrefix}/`)
  const fits = regexTest(value)
  return ({ path }) => fits(path)
}

type TextTest = (text: string) => boolean

export function headerCondition(header: ValueMatch): Condition {
  const { name } = header
  const fits = textTest(header)
  switch (name) {
    case ':method':
      return (request) => fits(request.method)
    case ':authority':
      return (request) => fits(request.authority)
    case ':scheme':
      return (request) => fits(request.scheme)
    case ':path':
      // `:path` includes the query, as in HTTP/2.
      return (request) => fits(request.query === '' ? request.path : `${request.path}?${request.query}`)
    default:
      return (request) => {
        for (let occurrence = 0; ; occurrence++) {
          const line = request.header(name, occurrence)
          if (line === undefined) return false
          if (fits(line)) return true
        }
      }
  }
}

export function queryCondition(query: ValueMatch): Condition {
  const { name } = query
  const fits = textTest(query)
  return (request) => {
    const value = firstQueryValue(request.query, name)
    return value !== null && fits(value)
  }
}

function textTest(match: ValueMatch): TextTest {
  if (match.kind === 'regex') return regexTest(match.value)
  const { value } = match
  return (text) => text === value
}

function regexTest(pattern: string): TextTest {
  const regex = compileRegex(pattern)
  // The schema has already rejected invalid patterns.
  if (!regex.ok) throw new Error(regex.message)
  return regex.fullMatch
}
