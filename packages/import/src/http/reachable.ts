import { ANY_MATCH, coversHost, type FieldCondition, type HttpMatch, type HttpRule } from './model.ts'
import { isPathWithin } from './overlap.ts'

/** Leaves out all matches whose requests an earlier rule takes, and rules without any other match. */
export function reachableRules(rules: readonly HttpRule[]): HttpRule[] {
  const found: HttpRule[] = []
  for (const rule of rules) {
    const matches = (rule.matches.length === 0 ? [ANY_MATCH] : rule.matches).filter(
      (match) => !found.some((earlier) => takesAll(earlier, rule.hosts, match)),
    )
    if (matches.length === 0) continue
    found.push(rule.matches.length === 0 ? rule : { ...rule, matches })
  }
  return found
}

function takesAll(earlier: HttpRule, hosts: readonly string[], match: HttpMatch): boolean {
  const coversHosts =
    earlier.hosts.length === 0 ||
    (hosts.length > 0 && hosts.every((host) => earlier.hosts.some((each) => coversHost(each, host))))
  if (!coversHosts) return false
  return (earlier.matches.length === 0 ? [ANY_MATCH] : earlier.matches).some(
    ({ path, method, headers, query }) =>
      (method === null || method === match.method) &&
      isPartOf(headers, match.headers) &&
      isPartOf(query, match.query) &&
      isPathWithin(match.path, path),
  )
}

function isPartOf(some: readonly FieldCondition[], all: readonly FieldCondition[]): boolean {
  if (some.length === 0) return true
  const known = new Set(all.map((field) => JSON.stringify(field)))
  return some.every((field) => known.has(JSON.stringify(field)))
}
