import { Double, isCelError, type Result, toText, Uint } from '@portico/cel'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import type { Expression } from '../../../pipeline/expression/expression.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import type { GlobalLimitConfig } from './schema.ts'

/** A descriptor of the rate limit service: the entries that it counts by, and the hits. */
export interface Descriptor {
  entries: readonly (readonly [key: string, value: string])[]
  /** The number of hits; null counts one, 0 only checks the limit. */
  hits: number | null
}

export interface AskedDescriptor extends Descriptor {
  rule: Rule
}

export interface TokenEntries {
  entries: Descriptor['entries']
  cost: Expression | null
}

export interface Rule {
  entries: readonly { name: string; value: Expression }[]
  unit: 'Requests' | 'Tokens'
  cost: Expression | null
}

export function ruleOf(config: GlobalLimitConfig, index: number, env: Env): Rule {
  const { entries = [], unit = 'Requests', cost } = config.descriptors[index] ?? {}
  return {
    entries: entries.map(({ name, expression }) => ({ name, value: env.cel(expression, 'request') })),
    unit,
    cost: cost === undefined ? null : costOf(config, index, cost, unit, env),
  }
}

/** The cost of a request is known before the response; the cost in tokens only afterwards. */
function costOf(config: GlobalLimitConfig, index: number, cost: string, unit: Rule['unit'], env: Env): Expression {
  if (unit === 'Tokens') return env.cel(cost, 'log')
  try {
    return env.cel(cost, 'request')
  } catch (error) {
    const found = `found ${error instanceof Error ? error.message : String(error)}`
    const expected = 'an expression over the request, or `unit: Tokens`'
    throw new ConfigFault(config, ['descriptors', index, 'cost'], { found, expected })
  }
}

export function descriptorOf(rule: Rule, rx: RequestContext): AskedDescriptor[] {
  const entries = entriesOf(rule, rx)
  if (entries === null) return []
  if (rule.unit === 'Tokens') return [{ rule, entries, hits: 0 }]
  if (rule.cost === null) return [{ rule, entries, hits: null }]
  const hits = wholeNumber(rule.cost.evaluate(rx))
  return hits === null ? [] : [{ rule, entries, hits }]
}

/** The entries; null when one of them has no value. */
function entriesOf({ entries }: Rule, rx: RequestContext): Descriptor['entries'] | null {
  const found: [string, string][] = []
  for (const { name, value } of entries) {
    const result = value.evaluate(rx)
    if (!isScalar(result)) return null
    found.push([name, toText(result)])
  }
  return found
}

/** Rounds a cost, because the rate limit service counts whole numbers. */
export function wholeNumber(result: Result): number | null {
  const value = isScalar(result) && typeof result !== 'boolean' ? Math.ceil(Number(toText(result))) : Number.NaN
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null
}

function isScalar(result: Result): boolean {
  if (isCelError(result) || result === null) return false
  return typeof result !== 'object' || result instanceof Uint || result instanceof Double
}
