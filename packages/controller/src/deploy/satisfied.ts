import { isObject } from '@portico/http/json'
import { type JsonObject, member } from '@portico/translate/json'
import { type PatchedKind, type Rule, type Rules, ruleOf, rulesByKind } from './patch/rules.ts'

/**
 * Whether a live object has all wanted fields. It may have more: server defaults, fields of others, and fields that a
 * running cluster adds.
 */
export function isSatisfied(wanted: JsonObject, live: JsonObject): boolean {
  const rules = Object.hasOwn(rulesByKind, String(wanted['kind'])) ? rulesByKind[wanted['kind'] as PatchedKind] : {}
  return hasMembers(wanted, live, rules, false)
}

function hasMembers(wanted: JsonObject, live: unknown, rules: Rules, isQuantities: boolean): boolean {
  return Object.entries(wanted).every(([name, value]) =>
    has(value, member(live, name), { name, rule: ruleOf(rules, name), isQuantities }),
  )
}

interface Spot {
  name: string
  rule: Rule | undefined
  isQuantities: boolean
}

function has(wanted: unknown, live: unknown, { name, rule, isQuantities }: Spot): boolean {
  if (Array.isArray(wanted)) return hasItems(wanted, Array.isArray(live) ? live : [], rule)
  if (isObject(wanted)) {
    // The server drops most empty maps.
    if (live === undefined || live === null) return Object.keys(wanted).length === 0
    const rules = rule !== undefined && 'fields' in rule ? rule.fields : {}
    return isObject(live) && hasMembers(wanted, live, rules, name === 'limits' || name === 'requests')
  }
  if (wanted === live) return true
  const amount = isQuantities || name === 'sizeLimit' || name === 'averageValue' ? quantity(wanted) : null
  return amount !== null && amount === quantity(live)
}

function hasItems(wanted: readonly unknown[], live: readonly unknown[], rule: Rule | undefined): boolean {
  if (rule !== undefined && 'list' in rule && rule.list === 'byKey' && !rule.isLoose)
    return wanted.every((item) => live.some((other) => hasItem(item, other, rule.item)))
  return wanted.length === live.length && wanted.every((item, index) => hasItem(item, live[index], {}))
}

function hasItem(wanted: unknown, live: unknown, rules: Rules): boolean {
  if (isObject(wanted)) return isObject(live) && hasMembers(wanted, live, rules, false)
  return has(wanted, live, { name: '', rule: undefined, isQuantities: false })
}

const factors: Readonly<Record<string, number>> = {
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}
const divisors: Readonly<Record<string, number>> = { m: 1e3, u: 1e6, n: 1e9 }

/** Parses a quantity, because the server normalizes them: `1000m` is `1`, `1024Mi` is `1Gi`. */
function quantity(value: unknown): number | null {
  const [, amount, unit = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([kMGTPE]i?|Ki|[mun])?$/.exec(String(value)) ?? []
  if (amount === undefined) return null
  return (Number(amount) * (factors[unit] ?? 1)) / (divisors[unit] ?? 1)
}
