import { withoutAbsent } from '../core/config-yaml.ts'
import { ANY_MATCH, coversHost, type HttpMatch, type HttpRule, type PathCondition } from './model.ts'
import { canOverlap } from './overlap.ts'
import { regexOf } from './paths.ts'

/** A route in the order of the config: a rule for some of its hosts, with printed matches. */
interface OrderedRoute {
  readonly rule: HttpRule
  readonly hostnames: readonly string[]
  /** The matches as the config has them; undefined when the route takes every request. */
  readonly matches: readonly object[] | undefined
}

const MOST_HOSTNAMES = 64
const MOST_MATCHES = 64

/**
 * Returns routes for which the gateway chooses the same rule as the source gateway, which chooses the first matching
 * rule. The gateway prefers exact hosts, then exact paths, then longer paths. So a rule without a host is repeated for
 * each host whose rules come later, and paths become longer patterns when the order of the rules requires it.
 */
export function orderedRoutes(rules: readonly HttpRule[]): OrderedRoute[] {
  const hosts = [...new Set(rules.flatMap((rule) => rule.hosts))]
  const groups = new Map<HttpRule, Map<string, { hostnames: string[]; matches: readonly object[] | undefined }>>()
  for (const host of [null, ...hosts]) {
    const list = rulesOfHost(rules, host)
    const printed = printMatches(list)
    for (const [index, rule] of list.entries()) {
      const matches = printed[index]
      const key = `${host === null}${JSON.stringify(matches)}`
      const found = groups.get(rule) ?? new Map<string, { hostnames: string[]; matches: typeof matches }>()
      groups.set(rule, found)
      const group = found.get(key) ?? { hostnames: [], matches }
      found.set(key, group)
      if (host !== null) group.hostnames.push(host)
    }
  }
  return rules.flatMap((rule) =>
    [...(groups.get(rule)?.values() ?? [])].flatMap(({ hostnames, matches }) =>
      chunks(hostnames, MOST_HOSTNAMES).flatMap((some) =>
        (matches === undefined ? [undefined] : chunks(matches, MOST_MATCHES)).map((each) => ({
          ...{ rule, hostnames: some, matches: each },
        })),
      ),
    ),
  )
}

/** Splits a list into parts of at most `size` items. An empty list is one part. */
function chunks<Item>(list: readonly Item[], size: number): (readonly Item[])[] {
  if (list.length <= size) return [list]
  return Array.from({ length: Math.ceil(list.length / size) }, (_each, at) => list.slice(at * size, (at + 1) * size))
}

/**
 * Returns the rules for a host: its own rules, and earlier rules for more hosts that match some of the same requests.
 */
function rulesOfHost(rules: readonly HttpRule[], host: string | null): HttpRule[] {
  if (host === null) return rules.filter(({ hosts }) => hosts.length === 0)
  const found: HttpRule[] = []
  for (const rule of rules.toReversed()) {
    const isOwn = rule.hosts.includes(host)
    const covers = rule.hosts.length === 0 || rule.hosts.some((each) => each !== host && coversHost(each, host))
    if (isOwn || (covers && found.some((later) => rulesOverlap(rule, later)))) found.push(rule)
  }
  return found.toReversed()
}

function rulesOverlap(one: HttpRule, other: HttpRule): boolean {
  return matchesOf(one).some((each) => matchesOf(other).some((its) => canOverlap(each, its)))
}

export function matchesOf({ matches }: HttpRule): readonly HttpMatch[] {
  return matches.length === 0 ? [ANY_MATCH] : matches
}

/** A match of a rule. `path` changes while the precedence of the matches is established. */
interface Item {
  readonly rule: number
  readonly match: HttpMatch
  path: PathCondition | null
}

/**
 * Prints the matches of rules so that the gateway prefers the match of the earlier rule for requests that fit several.
 */
function printMatches(rules: readonly HttpRule[]): (readonly object[] | undefined)[] {
  const items: Item[] = rules.flatMap((each, rule) =>
    matchesOf(each).map((match) => ({ rule, match, path: printablePath(match.path) })),
  )
  for (const [index, item] of items.entries()) {
    if (item.path?.kind !== 'exact') continue
    const isAfterPattern = items
      .slice(0, index)
      .some(
        (earlier) =>
          earlier.rule !== item.rule && earlier.path?.kind !== 'exact' && canOverlap(earlier.match, item.match),
      )
    if (isAfterPattern) item.path = { kind: 'pattern', regex: regexOf(item.path) }
  }
  for (const [index, item] of items.entries().toArray().toReversed()) {
    const later = items
      .slice(index + 1)
      .filter(
        (each) => each.rule !== item.rule && canOverlap(each.match, item.match) && comparePrecedence(each, item) < 0,
      )
    if (later.length === 0 || item.path?.kind === 'exact') continue
    const longest = later.reduce((most, each) => (comparePrecedence(each, most) < 0 ? each : most))
    const isFirstByFields = compareFields(longest.match, item.match) >= 0
    const length = printedLength(longest.path) + (isFirstByFields ? 0 : 1)
    item.path = { kind: 'pattern', regex: padded(regexOf(item.path), length) }
  }
  return rules.map(({ matches }, rule) => {
    if (matches.length === 0 && items.find((item) => item.rule === rule)?.path === null) return undefined
    return items.filter((item) => item.rule === rule).map(printMatch)
  })
}

/**
 * Turns a path without regard to letter case into a pattern, because exact paths and prefixes of the config depend on
 * letter case.
 */
function printablePath(path: PathCondition | null): PathCondition | null {
  return path !== null && path.kind !== 'pattern' && path.isCaseless === true
    ? { kind: 'pattern', regex: regexOf(path) }
    : path
}

/** Compares two matches: negative when the gateway prefers the first; 0 when their order in the file decides. */
function comparePrecedence(one: Item, other: Item): number {
  const exactness = Number(other.path?.kind === 'exact') - Number(one.path?.kind === 'exact')
  if (exactness !== 0) return exactness
  const length = printedLength(other.path) - printedLength(one.path)
  return length === 0 ? compareFields(one.match, other.match) : length
}

function compareFields(one: HttpMatch, other: HttpMatch): number {
  return (
    Number(other.method !== null) - Number(one.method !== null) ||
    other.headers.length - one.headers.length ||
    other.query.length - one.query.length
  )
}

function printedLength(path: PathCondition | null): number {
  const printed = printPath(path)
  return printed === undefined ? 1 : (Object.values(printed)[0] ?? '').length
}

/** Makes a pattern longer by empty groups, which match nothing. The gateway prefers longer patterns. */
function padded(regex: string, length: number): string {
  return regex + '(?:)'.repeat(Math.max(0, Math.ceil((length - regex.length) / 4)))
}

function printPath(path: PathCondition | null): Record<string, string> | undefined {
  if (path === null) return undefined
  if (path.kind === 'exact') return { exact: path.path }
  if (path.kind === 'pattern') return { regex: path.regex }
  if (path.kind === 'segments' || path.path === '/') return { pathPrefix: path.path }
  return { regex: regexOf(path) }
}

function printMatch({ match: { method, headers, query }, path }: Item): object {
  return withoutAbsent({
    path: printPath(path),
    method: method ?? undefined,
    headers: headers.length === 0 ? undefined : headers,
    query: query.length === 0 ? undefined : query,
  })
}
