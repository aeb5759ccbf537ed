import { type Condition, conditionOfMatches, matchesOfCondition } from './conditions.ts'
import type { HttpRule } from './model.ts'
import { reachableRules } from './reachable.ts'

/** The route that a rule leads to: name, policies and backends, without hosts and matches. */
export type Action = Omit<HttpRule, 'hosts' | 'matches'>

/** A condition with an action. In a list of entries, the first entry whose condition holds takes the request. */
export interface Entry {
  readonly condition: Condition
  readonly action: Action
  /**
   * Called with the reason when routes cannot express the condition. Returns an entry that replaces this entry, or
   * null.
   */
  refused(this: void, why: string): { readonly condition: Condition; readonly action: Action } | null
}

interface PlainEntry {
  readonly condition: Condition
  readonly action: Action
}

const MOST_ENTRIES = 2_000

/**
 * Returns the rules for a list of entries. Routes have no negated conditions, so an entry with `a and not b` is
 * preceded by copies of the later entries for requests with `a and b`.
 */
export function rulesOfEntries(entries: readonly Entry[]): HttpRule[] {
  let rest: PlainEntry[] = []
  for (const entry of entries.toReversed()) {
    const next = placeBefore(rest, entry)
    if (typeof next !== 'string') {
      rest = next
      continue
    }
    const instead = entry.refused(next)
    const replaced = instead === null ? rest : placeBefore(rest, instead)
    if (typeof replaced !== 'string') rest = replaced
  }
  const rules = rest.flatMap(({ condition, action }) => {
    const found = matchesOfCondition(condition)
    return typeof found === 'string' ? [] : found.map(({ hosts, matches }) => ({ ...action, hosts, matches }))
  })
  return reachableRules(rules)
}

function placeBefore(rest: readonly PlainEntry[], { condition, action }: PlainEntry): PlainEntry[] | string {
  const alternatives = alternativesOf(condition, false)
  if (typeof alternatives === 'string') return alternatives
  let found = [...rest]
  for (const literals of alternatives.toReversed()) {
    const positive: Condition = { kind: 'all', of: literals.filter(({ kind }) => kind !== 'not') }
    const matches = matchesOfCondition(positive)
    if (typeof matches === 'string') return matches
    if (matches.length === 0) continue
    const negated = literals.flatMap((each) => (each.kind === 'not' ? each.of : []))
    const skipped: PlainEntry[] = []
    if (negated.length > 0) {
      const except: Condition = { kind: 'all', of: [positive, { kind: 'any', of: negated }] }
      for (const each of found) {
        const both: Condition = { kind: 'all', of: [except, each.condition] }
        const copy = matchesOfCondition(both)
        if (typeof copy === 'string') return copy
        if (copy.length > 0) skipped.push({ condition: conditionOfMatches(copy), action: each.action })
      }
      const all = matchesOfCondition(except)
      if (typeof all === 'string') return all
      skipped.push({ condition: conditionOfMatches(all), action: noRoute(action) })
    }
    found = [...skipped, { condition: conditionOfMatches(matches), action }, ...found]
    if (found.length > MOST_ENTRIES) return 'the conditions lead to too many routes'
  }
  return found
}

/**
 * Returns an action with status 404, for requests that the negated part of a condition excludes and that no later entry
 * matches.
 */
function noRoute({ at, source }: Action): Action {
  return {
    ...{ name: `excluded-${at.line}`, at, source: `${source}: excluded`, backends: [] },
    policies: { directResponse: { status: 404 } },
    outcome: { kind: 'status', status: 404 },
  }
}

/** Returns why routes cannot express a condition; an empty string when they can. */
export function whyInexpressible(condition: Condition): string {
  const alternatives = alternativesOf(condition, false)
  if (typeof alternatives === 'string') return alternatives
  for (const literals of alternatives) {
    for (const each of literals) {
      const found = matchesOfCondition(each.kind === 'not' ? each.of : each)
      if (typeof found === 'string') return found
    }
  }
  return ''
}

const MOST_ALTERNATIVES = 64

/** Splits a condition into alternatives. Each alternative is a list of conditions that must all hold. */
function alternativesOf(condition: Condition, isNegated: boolean): Condition[][] | string {
  if (condition.kind === 'not') return alternativesOf(condition.of, !isNegated)
  if (condition.kind === 'always') return condition.value === isNegated ? [] : [[]]
  if (condition.kind !== 'all' && condition.kind !== 'any') {
    return [[isNegated ? { kind: 'not', of: condition } : condition]]
  }
  const isAny = (condition.kind === 'any') !== isNegated
  // A condition without negated parts stays one alternative, so that one route can have all of its matches.
  if (!isNegated && !hasNegation(condition)) return [[condition]]
  let found: Condition[][] = isAny ? [] : [[]]
  for (const part of condition.of) {
    const inner = alternativesOf(part, isNegated)
    if (typeof inner === 'string') return inner
    found = isAny ? [...found, ...inner] : found.flatMap((one) => inner.map((other) => [...one, ...other]))
    if (found.length > MOST_ALTERNATIVES) return 'the condition leads to too many alternative matches'
  }
  return found
}

function hasNegation(condition: Condition): boolean {
  if (condition.kind === 'all' || condition.kind === 'any') return condition.of.some(hasNegation)
  return condition.kind === 'not'
}

/**
 * Returns a wider condition that routes can express, by leaving out the parts that they cannot express. Null when the
 * wider condition would match all requests.
 */
export function widened(condition: Condition): Condition | null {
  const wide = replaceUnknown(condition)
  const found = matchesOfCondition(wide)
  if (typeof found === 'string') return null
  return found.some(({ hosts, matches }) => hosts.length === 0 && matches.length === 0) ? null : wide
}

function replaceUnknown(condition: Condition): Condition {
  if (condition.kind === 'all' || condition.kind === 'any') {
    return { kind: condition.kind, of: condition.of.map(replaceUnknown) }
  }
  const isLost = condition.kind === 'not' || condition.kind === 'unknown' || condition.kind === 'address'
  return isLost ? { kind: 'always', value: true } : condition
}
