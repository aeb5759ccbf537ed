import { ANY_MATCH, coversHost, type FieldCondition, type HttpMatch, type PathCondition } from './model.ts'
import { commonPattern, isPathWithin, pathsOverlap } from './overlap.ts'
import { patternBeforeQuery, regexOf } from './paths.ts'

/** A condition on requests, as it is written in gateways that choose the first matching rule. */
export type Condition =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'path'; readonly path: PathCondition }
  | { readonly kind: 'method'; readonly method: string }
  | { readonly kind: 'header'; readonly header: FieldCondition }
  | { readonly kind: 'query'; readonly query: FieldCondition }
  | { readonly kind: 'address'; readonly cidr: string }
  | { readonly kind: 'always'; readonly value: boolean }
  /** A condition that cannot be expressed; `why` is the reason. */
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }

/** The hosts and matches of a route. A request must have one of the hosts, and fit one of the matches. */
interface HostMatches {
  readonly hosts: readonly string[]
  readonly matches: readonly HttpMatch[]
}

const MOST_ALTERNATIVES = 256

interface Alternative {
  readonly host: string | null
  readonly match: HttpMatch
}

/**
 * Returns the hosts and matches of routes that match the same requests as a condition; an empty list for a condition
 * that never holds. Returns the reason as a string when routes cannot express the condition.
 */
export function matchesOfCondition(condition: Condition): HostMatches[] | string {
  const alternatives = expand(condition)
  if (typeof alternatives === 'string') return alternatives
  const byMatch = new Map<string, { match: HttpMatch; hosts: (string | null)[] }>()
  for (const { host, match } of alternatives) {
    const key = JSON.stringify(match)
    const found = byMatch.get(key) ?? { match, hosts: [] }
    byMatch.set(key, found)
    if (!found.hosts.includes(host)) found.hosts.push(host)
  }
  const byHosts = new Map<string, { hosts: readonly string[]; matches: HttpMatch[] }>()
  for (const { match, hosts } of byMatch.values()) {
    const names = hosts.includes(null) ? [] : hosts.filter((host) => host !== null)
    const key = names.join(' ')
    const found = byHosts.get(key) ?? { hosts: names, matches: [] }
    byHosts.set(key, found)
    found.matches.push(match)
  }
  return [...byHosts.values()].map(({ hosts, matches }) => ({
    hosts,
    matches: matches.some((match) => isAny(match)) ? [] : matches,
  }))
}

/** Returns the condition that hosts and matches of routes express. */
export function conditionOfMatches(found: readonly HostMatches[]): Condition {
  return {
    kind: 'any',
    of: found.map(({ hosts, matches }) => ({
      kind: 'all',
      of: [
        ...(hosts.length === 0
          ? []
          : [{ kind: 'any' as const, of: hosts.map((host) => ({ kind: 'host' as const, host })) }]),
        ...(matches.length === 0 ? [] : [{ kind: 'any' as const, of: matches.map(conditionOfMatch) }]),
      ],
    })),
  }
}

function conditionOfMatch({ path, method, headers, query }: HttpMatch): Condition {
  return {
    kind: 'all',
    of: [
      ...(path === null ? [] : [{ kind: 'path' as const, path }]),
      ...(method === null ? [] : [{ kind: 'method' as const, method }]),
      ...headers.map((header) => ({ kind: 'header' as const, header })),
      ...query.map((each) => ({ kind: 'query' as const, query: each })),
    ],
  }
}

function isAny({ path, method, headers, query }: HttpMatch): boolean {
  return path === null && method === null && headers.length === 0 && query.length === 0
}

function expand(condition: Condition): Alternative[] | string {
  switch (condition.kind) {
    case 'host':
      return [{ host: condition.host, match: ANY_MATCH }]
    case 'path':
      return [{ host: null, match: { ...ANY_MATCH, path: condition.path } }]
    case 'method':
      return [{ host: null, match: { ...ANY_MATCH, method: condition.method } }]
    case 'header':
      return [{ host: null, match: { ...ANY_MATCH, headers: [condition.header] } }]
    case 'query':
      return [{ host: null, match: { ...ANY_MATCH, query: [condition.query] } }]
    case 'address':
      return "routes cannot match the client's address"
    case 'unknown':
      return condition.why
    case 'always':
      return condition.value ? [{ host: null, match: ANY_MATCH }] : []
    case 'not':
      return 'routes cannot match negated conditions'
    case 'any':
      return expandAny(condition.of)
    case 'all':
      return expandAll(condition.of)
  }
}

function expandAny(parts: readonly Condition[]): Alternative[] | string {
  const found: Alternative[] = []
  for (const part of parts) {
    const alternatives = expand(part)
    if (typeof alternatives === 'string') return alternatives
    found.push(...alternatives)
    if (found.length > MOST_ALTERNATIVES) return 'the condition leads to too many alternative matches'
  }
  return found
}

function expandAll(parts: readonly Condition[]): Alternative[] | string {
  let found: Alternative[] = [{ host: null, match: ANY_MATCH }]
  for (const part of parts) {
    const alternatives = expand(part)
    if (typeof alternatives === 'string') return alternatives
    const next: Alternative[] = []
    for (const one of found) {
      for (const other of alternatives) {
        const both = intersect(one, other)
        if (typeof both === 'string') return both
        if (both !== null) next.push(both)
      }
    }
    found = distinct(next)
    if (found.length > MOST_ALTERNATIVES) return 'the condition leads to too many alternative matches'
  }
  return found
}

function distinct(alternatives: readonly Alternative[]): Alternative[] {
  if (alternatives.length < 2) return [...alternatives]
  return [...new Map(alternatives.map((each) => [JSON.stringify(each), each])).values()]
}

/**
 * Joins two alternatives into one that requires both; null when no request can fit both, and the reason as a string
 * when a route cannot express both.
 */
function intersect(one: Alternative, other: Alternative): Alternative | null | string {
  const host = narrower(one.host, other.host)
  if (host === undefined) return null
  const path = narrowerPath(one.match.path, other.match.path)
  if (path === undefined) return null
  const second = path === 'two' ? pathHeader(other.match.path) : []
  if (second === null) return 'the condition has two patterns for the path, and a route can have one'
  const [method, otherMethod] = [one.match.method, other.match.method]
  if (method !== null && otherMethod !== null && method !== otherMethod) return null
  const headers = unique([...one.match.headers, ...other.match.headers, ...second])
  const query = unique([...one.match.query, ...other.match.query])
  if (headers.length > 16 || query.length > 16) return 'the condition has more than 16 headers or query parameters'
  const found = path === 'two' ? one.match.path : path
  return { host, match: { path: found, method: method ?? otherMethod, headers, query } }
}

function unique(fields: readonly FieldCondition[]): FieldCondition[] {
  return [...new Map(fields.map((field) => [JSON.stringify(field), field])).values()]
}

/** Expresses a second condition on the path as a condition on the header `:path`, which also contains the query. */
function pathHeader(path: PathCondition | null): FieldCondition[] | null {
  const regex = patternBeforeQuery(regexOf(path))
  return regex === null ? null : [{ name: ':path', value: { regex } }]
}

function narrower(one: string | null, other: string | null): string | null | undefined {
  if (one === null || other === null) return one ?? other
  return coversHost(one, other) ? other : coversHost(other, one) ? one : undefined
}

function narrowerPath(
  one: PathCondition | null,
  other: PathCondition | null,
): PathCondition | null | 'two' | undefined {
  if (isPathWithin(one, other)) return one
  if (isPathWithin(other, one)) return other
  if (one === null || other === null || !pathsOverlap(one, other)) return undefined
  return commonPattern(one, other) ?? 'two'
}

/** Returns a condition as a CEL expression; null when a part of the condition is unknown. */
export function expressionOfCondition(condition: Condition): string | null {
  switch (condition.kind) {
    case 'host':
      return condition.host.startsWith('*.')
        ? `request.host.endsWith(${quote(condition.host.slice(1))})`
        : `request.host == ${quote(condition.host)}`
    case 'path':
      return pathExpression(condition.path)
    case 'method':
      return `request.method == ${quote(condition.method)}`
    case 'header':
      return fieldExpression(condition.header, `default(request.headers.raw()[${quote(condition.header.name)}], [])`)
    case 'query':
      return fieldExpression(condition.query, `default(request.uri.query(${quote(condition.query.name)}), [])`)
    case 'address':
      return `cidr(${quote(condition.cidr)}).containsIP(source.address)`
    case 'always':
      return String(condition.value)
    case 'unknown':
      return null
    case 'not': {
      const inner = expressionOfCondition(condition.of)
      return inner === null ? null : `!(${inner})`
    }
    case 'all':
    case 'any': {
      const parts = condition.of.map(expressionOfCondition)
      if (parts.includes(null)) return null
      if (parts.length === 0) return String(condition.kind === 'all')
      const joined = parts.map((part, index) => (isSimple(condition.of[index]) ? part : `(${part})`))
      return joined.join(condition.kind === 'all' ? ' && ' : ' || ')
    }
  }
}

function isSimple(condition: Condition | undefined): boolean {
  return condition?.kind !== 'all' && condition?.kind !== 'any'
}

function pathExpression(path: PathCondition): string {
  const isPlain = path.kind !== 'pattern' && path.isCaseless !== true
  if (isPlain && path.kind === 'exact') return `request.path == ${quote(path.path)}`
  if (isPlain && path.kind === 'start') return `request.path.startsWith(${quote(path.path)})`
  return `request.path.matches(${quote(wholeText(regexOf(path)))})`
}

/** Anchors a pattern, because CEL searches for a pattern anywhere in a text. */
function wholeText(regex: string): string {
  const [, flags = '', source = ''] = /^(\(\?i\))?([^]*)$/.exec(regex) ?? []
  return `${flags}^(?:${source})$`
}

function fieldExpression({ name, value }: FieldCondition, list: string): string {
  if (name.startsWith(':')) {
    const part =
      { ':method': 'request.method', ':authority': 'request.host', ':scheme': 'request.scheme' }[name] ??
      'request.pathAndQuery'
    return 'exact' in value ? `${part} == ${quote(value.exact)}` : `${part}.matches(${quote(wholeText(value.regex))})`
  }
  if ('exact' in value) return `${quote(value.exact)} in ${list}`
  return `${list}.exists(each, each.matches(${quote(wholeText(value.regex))}))`
}

function quote(text: string): string {
  return JSON.stringify(text)
}
