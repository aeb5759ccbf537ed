import { printChoices } from './problem.ts'
import type { ProblemCode } from './problem.ts'

/** Rules between the keys of one mapping, as data: the validator, JSON Schema, the CRDs and the pages all say them. */
export type Rule =
  | { rule: 'exactlyOneOf'; keys: readonly string[] }
  | { rule: 'atMostOneOf'; keys: readonly string[] }
  | { rule: 'onlyWith'; key: string; needs: string }
  /** `key` is a list of conditional forms; it excludes the plain ones. */
  | { rule: 'conditional'; key: string; plain: readonly string[] }

export function exactlyOneOf(...keys: string[]): Rule {
  return { rule: 'exactlyOneOf', keys }
}

export function atMostOneOf(...keys: string[]): Rule {
  return { rule: 'atMostOneOf', keys }
}

/** `key` may be set only together with `needs`. */
export function onlyWith(key: string, needs: string): Rule {
  return { rule: 'onlyWith', key, needs }
}

/** Either the list `conditional` or the plain keys; only the last item of the list may lack a condition. */
export function conditionalOr(...plain: string[]): Rule {
  return { rule: 'conditional', key: 'conditional', plain }
}

/** The rule as an English sentence. */
export function printRule(rule: Rule): string {
  switch (rule.rule) {
    case 'exactlyOneOf':
      return `Exactly one of ${printChoices(rule.keys)} must be set.`
    case 'atMostOneOf':
      return `At most one of ${printChoices(rule.keys)} may be set.`
    case 'onlyWith':
      return `\`${rule.key}\` may be set only together with \`${rule.needs}\`.`
    case 'conditional':
      return `\`${rule.key}\` may not be set together with ${printChoices(rule.plain)}; only its last item may lack a condition.`
  }
}

export interface BrokenRule {
  code: ProblemCode
  found: string
  expected: string
  key?: string
}

export function brokenRules(rules: readonly Rule[], value: unknown): BrokenRule[] {
  // Anything but a mapping was already reported as such.
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const has = (key: string): boolean => (value as Record<string, unknown>)[key] !== undefined
  return rules.flatMap((rule) => brokenRule(rule, has, value))
}

function brokenRule(rule: Rule, has: (key: string) => boolean, value: object): BrokenRule[] {
  if (rule.rule === 'conditional') return brokenConditional(rule, has, value)
  if (rule.rule === 'onlyWith') {
    if (!has(rule.key) || has(rule.needs)) return []
    const found = `found \`${rule.key}\` without \`${rule.needs}\``
    return [{ code: 'conflict', found, expected: `both keys, or none`, key: rule.key }]
  }
  const set = rule.keys.filter(has)
  if (set.length === 1 || (set.length === 0 && rule.rule === 'atMostOneOf')) return []
  const expected = `${rule.rule === 'exactlyOneOf' ? 'exactly' : 'at most'} one of ${printChoices(rule.keys)}`
  if (set.length === 0) return [{ code: 'missing_key', found: 'found none of the keys', expected }]
  const found = `found ${set.map((key) => `\`${key}\``).join(' and ')}`
  return [{ code: 'conflict', found, expected, key: set[1]! }]
}

function brokenConditional(
  rule: Rule & { rule: 'conditional' },
  has: (key: string) => boolean,
  value: object,
): BrokenRule[] {
  if (!has(rule.key)) return []
  const plain = rule.plain.find(has)
  if (plain !== undefined) {
    const found = `found \`${rule.key}\` and \`${plain}\``
    return [{ code: 'conflict', found, expected: 'either the conditional forms or the plain one', key: plain }]
  }
  const items: unknown = (value as Record<string, unknown>)[rule.key]
  const early = Array.isArray(items) ? items.slice(0, -1).findIndex((item) => !hasCondition(item)) : -1
  if (early === -1) return []
  const found = `found an item without \`condition\` before the last one`
  return [{ code: 'conflict', found, expected: 'the fallback at the end', key: rule.key }]
}

function hasCondition(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'condition' in item && item.condition !== undefined
}
