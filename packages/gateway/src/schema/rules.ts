import { isObject } from '@portico/http/json'
import { printChoices } from './problem.ts'
import type { ProblemCode } from './problem.ts'

/**
 * Rules between the keys of one mapping, as data: the validator, JSON Schema, the CRDs and the reference pages all use
 * them.
 */
export type Rule = ExactlyOneOf | OtherRule

/** Rules that do not affect the type of the parsed value. */
export type OtherRule =
  | { rule: 'atMostOneOf'; keys: readonly string[] }
  | { rule: 'atLeastOneOf'; keys: readonly string[] }
  | { rule: 'onlyWith'; key: string; needs: string }
  /** Whether `key` must be set depends on the value of `other`. */
  | { rule: 'requiredWhen'; key: string; other: string; word: string }
  | { rule: 'requiredUnless'; key: string; other: string; word: string }
  /** Each `by` is unique across all lists `items` of the list `key`. */
  | { rule: 'uniqueAcross'; key: string; items: string; by: string }
  /** A rule that the others cannot express, in CEL, with a message for when it is false; `holds` computes the same. */
  | { rule: 'other'; cel: string; message: string; holds: (value: Readonly<Record<string, unknown>>) => boolean }
  /**
   * `key` is a list of conditional forms; it excludes the plain keys. Without it, the keys in `required` must be set.
   */
  | { rule: 'conditional'; key: string; plain: readonly string[]; required: readonly string[] }

/** The keys are part of the type, so that the parsed value has exactly one of them. */
export interface ExactlyOneOf<Key extends string = string> {
  rule: 'exactlyOneOf'
  keys: readonly Key[]
}

export function exactlyOneOf<const Key extends string>(...keys: Key[]): ExactlyOneOf<Key> {
  return { rule: 'exactlyOneOf', keys }
}

export function atMostOneOf(...keys: string[]): OtherRule {
  return { rule: 'atMostOneOf', keys }
}

export function atLeastOneOf(...keys: string[]): OtherRule {
  return { rule: 'atLeastOneOf', keys }
}

/** `key` may be set only together with `needs`. */
export function onlyWith(key: string, needs: string): OtherRule {
  return { rule: 'onlyWith', key, needs }
}

/** `key` must be set when `other` is `word`. */
export function requiredWhen(key: string, other: string, word: string): OtherRule {
  return { rule: 'requiredWhen', key, other, word }
}

/** `key` must be set when `other` is anything but `word`. */
export function requiredUnless(key: string, other: string, word: string): OtherRule {
  return { rule: 'requiredUnless', key, other, word }
}

/** `by` must differ between all items of the lists `items` in the list `key`. */
export function uniqueAcross(key: string, items: string, by: string): OtherRule {
  return { rule: 'uniqueAcross', key, items, by }
}

/** Either the list `conditional` or the plain keys; only the last item of the list may lack a condition. */
export function conditionalOr(plain: readonly string[], required: readonly string[] = []): OtherRule {
  return { rule: 'conditional', key: 'conditional', plain, required }
}

/** A rule in CEL and as a function. `holds` may get values with other problems, so it must check their types. */
export function otherRule(
  message: string,
  cel: string,
  holds: (value: Readonly<Record<string, unknown>>) => boolean,
): OtherRule {
  return { rule: 'other', message, cel, holds }
}

/** The rule restricted to the keys in `names`; null when nothing is left of the rule. */
export function ruleOver(rule: Rule, names: ReadonlySet<string>): Rule | null {
  if (rule.rule === 'onlyWith') return names.has(rule.key) && names.has(rule.needs) ? rule : null
  if (rule.rule === 'uniqueAcross') return names.has(rule.key) ? rule : null
  if (rule.rule === 'other') return rule
  if (rule.rule === 'requiredWhen' || rule.rule === 'requiredUnless') {
    return names.has(rule.key) && names.has(rule.other) ? rule : null
  }
  if (rule.rule === 'conditional') {
    const [plain, required] = [rule.plain, rule.required].map((keys) => keys.filter((key) => names.has(key)))
    return { ...rule, plain: plain ?? [], required: required ?? [] }
  }
  const keys = rule.keys.filter((key) => names.has(key))
  return keys.length === 0 || (keys.length === 1 && rule.rule === 'atMostOneOf') ? null : { ...rule, keys }
}

/** The rule as an English sentence. */
export function printRule(rule: Rule): string {
  switch (rule.rule) {
    case 'exactlyOneOf':
      return `Exactly one of ${printChoices(rule.keys)} must be set.`
    case 'atMostOneOf':
      return `At most one of ${printChoices(rule.keys)} may be set.`
    case 'atLeastOneOf':
      return `At least one of ${printChoices(rule.keys)} must be set.`
    case 'onlyWith':
      return `\`${rule.key}\` may be set only together with \`${rule.needs}\`.`
    case 'requiredWhen':
      return `\`${rule.key}\` must be set when \`${rule.other}\` is \`${rule.word}\`.`
    case 'requiredUnless':
      return `\`${rule.key}\` must be set unless \`${rule.other}\` is \`${rule.word}\`.`
    case 'uniqueAcross':
      return `Each \`${rule.by}\` may occur only once in all \`${rule.items}\` of \`${rule.key}\`.`
    case 'other':
      return `${rule.message.charAt(0).toUpperCase()}${rule.message.slice(1)}.`
    case 'conditional':
      return [
        `\`${rule.key}\` may not be set together with ${printChoices(rule.plain)}; only its last item may lack a condition.`,
        ...(rule.required.length === 0 ? [] : [`Without it ${printAll(rule.required)} must be set.`]),
      ].join(' ')
  }
}

function printAll(keys: readonly string[]): string {
  return keys.map((key) => `\`${key}\``).join(' and ')
}

interface BrokenRule {
  code: ProblemCode
  found: string
  expected: string
  key?: string
  /** Keys of which any one would fix the problem. */
  absent?: readonly string[]
}

/**
 * Whether no rule is broken. Rules that count keys are checked without building messages, because most rules are about
 * counts, and most hold.
 */
export function areKept(rules: readonly Rule[], value: Record<string, unknown>): boolean {
  return rules.every((rule) => {
    if (!('keys' in rule)) return brokenRules([rule], value).length === 0
    let count = 0
    for (const key of rule.keys) if (value[key] !== undefined) count++
    return rule.rule === 'atMostOneOf' ? count <= 1 : rule.rule === 'atLeastOneOf' ? count >= 1 : count === 1
  })
}

export function brokenRules(rules: readonly Rule[], value: unknown): BrokenRule[] {
  // Anything but a mapping was already reported as such.
  if (!isObject(value)) return []
  const has = (key: string): boolean => value[key] !== undefined
  return rules.flatMap((rule) => brokenRule(rule, has, value))
}

function brokenRule(rule: Rule, has: (key: string) => boolean, value: object): BrokenRule[] {
  if (rule.rule === 'conditional') return brokenConditional(rule, has, value)
  if (rule.rule === 'other') {
    const isBroken = !rule.holds(value as Readonly<Record<string, unknown>>)
    return isBroken ? [{ code: 'conflict', found: rule.message, expected: '' }] : []
  }
  if (rule.rule === 'uniqueAcross') return brokenUniqueness(rule, value)
  if (rule.rule === 'requiredWhen' || rule.rule === 'requiredUnless') return brokenNeed(rule, has, value)
  if (rule.rule === 'onlyWith') {
    if (!has(rule.key) || has(rule.needs)) return []
    const found = `found \`${rule.key}\` without \`${rule.needs}\``
    return [{ code: 'conflict', found, expected: `both keys, or none`, key: rule.key, absent: [rule.needs] }]
  }
  const set = rule.keys.filter(has)
  if (rule.rule === 'atLeastOneOf' && set.length > 0) return []
  const [first, second] = set
  if (first === undefined ? rule.rule === 'atMostOneOf' : second === undefined) return []
  const expected = `${COUNTS[rule.rule]} one of ${printChoices(rule.keys)}`
  if (second === undefined) {
    return [{ code: 'missing_key', found: 'found none of the keys', expected, absent: rule.keys }]
  }
  const found = `found ${set.map((key) => `\`${key}\``).join(' and ')}`
  return [{ code: 'conflict', found, expected, key: second }]
}

const COUNTS = { exactlyOneOf: 'exactly', atMostOneOf: 'at most', atLeastOneOf: 'at least' } as const

function brokenNeed(
  rule: Rule & { rule: 'requiredWhen' | 'requiredUnless' },
  has: (key: string) => boolean,
  value: object,
): BrokenRule[] {
  const word: unknown = (value as Record<string, unknown>)[rule.other]
  if (has(rule.key) || typeof word !== 'string') return []
  if ((word === rule.word) !== (rule.rule === 'requiredWhen')) return []
  return [
    {
      code: 'missing_key',
      found: `found \`${rule.other}\` ${JSON.stringify(word)} alone`,
      expected: `also \`${rule.key}\``,
      absent: [rule.key],
    },
  ]
}

function brokenUniqueness({ key, items, by }: Rule & { rule: 'uniqueAcross' }, value: object): BrokenRule[] {
  const seen = new Set<unknown>()
  for (const list of listAt(value, key)) {
    // Duplicates within one list are reported by that list.
    const names = new Set(listAt(list, items).map((item) => memberOf(item, by)))
    for (const name of names) {
      if (typeof name !== 'string') continue
      const found = `found ${JSON.stringify(name)} a second time`
      if (seen.has(name)) return [{ code: 'duplicate', found, expected: `each \`${by}\` once`, key }]
      seen.add(name)
    }
  }
  return []
}

function listAt(value: unknown, key: string): unknown[] {
  const list = memberOf(value, key)
  return Array.isArray(list) ? list : []
}

function memberOf(value: unknown, key: string): unknown {
  return (value as Record<string, unknown> | null | undefined)?.[key]
}

function brokenConditional(
  rule: Rule & { rule: 'conditional' },
  has: (key: string) => boolean,
  value: object,
): BrokenRule[] {
  if (!has(rule.key)) {
    const missing = rule.required.filter((key) => !has(key))
    if (missing.length === 0) return []
    const expected = `${printAll(missing)}, or \`${rule.key}\``
    return [{ code: 'missing_key', found: 'found none of the keys', expected, absent: [...missing, rule.key] }]
  }
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
