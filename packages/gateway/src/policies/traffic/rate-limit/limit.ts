import { Double, type Result, Uint } from '@portico/cel'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { Budget } from '../../../state/budget.ts'
import { KeyedBudgets } from '../../../state/keyed-budgets.ts'
import type { LocalLimitConfig } from './schema.ts'
import type { Limit } from './take-from-all.ts'

/** A configured limit; the request decides which budget it spends from. */
export interface LimitSource {
  counts: Limit['counts']
  /** The budget of all requests; null when the budget depends on the request. */
  fixed: Limit | null
  of(rx: RequestContext): Limit
}

const windowMsByUnit = { Seconds: 1_000, Minutes: 60_000, Hours: 3_600_000 }

/** The attachment names the budget, so that all its routes, all workers and all generations spend from the same one. */
export function limitSource(local: LocalLimitConfig, index: number, env: Env): LimitSource {
  const { requests, tokens, unit, burst } = local
  const counts = tokens === undefined ? 'requests' : 'tokens'
  const amount = tokens ?? requests
  const name = `${amount}${counts === 'tokens' ? ' tokens' : ''}/${unit}${burst === 0 ? '' : `+${burst}`}`
  const numbers = { amount, burst, windowMs: windowMsByUnit[unit] }
  // A change of the amount keeps the spent units; a change of the window does not.
  const place = `${env.attachment}/local/${index}/${counts}/${unit}`
  if (local.key !== undefined) return keyed(local, local.key, { name, counts, numbers, place }, env)
  const cells = env.counters.cells(place)
  if (cells === null) {
    const found = `found no room for the limit ${name} of ${env.attachment}`
    throw new ConfigFault(local, [], { found, expected: 'fewer limits' })
  }
  const limit: Limit = { name, counts, budget: new Budget({ cells, ...numbers }) }
  return { counts, fixed: limit, of: () => limit }
}

/** Whether shared numbers of that name are the budget of a limit. */
export function isLimitName(name: string): boolean {
  return /\/local\/\d+\/(?:requests|tokens)\/(?:Seconds|Minutes|Hours)$/.test(name)
}

interface LimitNumbers extends Pick<Limit, 'name' | 'counts'> {
  numbers: { amount: number; burst: number; windowMs: number }
  place: string
}

function keyed(local: LocalLimitConfig, key: string, limit: LimitNumbers, env: Env): LimitSource {
  const { name, counts, numbers, place } = limit
  const { size, failureMode } = local.keys ?? DEFAULT_KEYS
  const table = env.tables.keyed(`${place}/${key}`, size)
  if (table === null) {
    const found = `found no room for ${size} keys of the limit ${name} of ${env.attachment}`
    throw new ConfigFault(local, [], { found, expected: 'fewer keys' })
  }
  const budgets = new KeyedBudgets(table, numbers)
  const expression = env.cel(key, 'request')
  const isOpen = failureMode === 'FailOpen'
  const count = env.keyWithoutRoom({ policy: env.attachment, limit: name, outcome: isOpen ? 'passed' : 'refused' })
  let [requests, last] = [0, 0]
  const whenFull = {
    isOpen,
    tell: occasionally(name, env),
    // A request may check a budget before it takes from it.
    asked() {
      if (last !== requests) count()
      last = requests
    },
  }
  return {
    counts,
    fixed: null,
    of(rx) {
      requests++
      const budget = budgets.of(keyText(expression.evaluate(rx)), whenFull)
      return { name, counts, budget, hash: budget.name }
    },
  }
}

/** The default of `keys`. */
const DEFAULT_KEYS = { size: 10_000, failureMode: 'FailClosed' } as const

/** Requests without a key share a separate budget. */
function keyText(value: Result): string {
  if (typeof value === 'string') return `key ${value}`
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return `key ${value}`
  if (value instanceof Double || value instanceof Uint) return `key ${value.value}`
  return 'none'
}

/** Logs a full table at most every ten seconds, not for each request. */
function occasionally(name: string, env: Env): () => void {
  let nextAt = -Infinity
  return () => {
    const now = env.monotonic()
    if (now < nextAt) return
    nextAt = now + 10_000
    env.log.warn('rate limit table is full: no room for another key', { limit: name, policy: env.attachment })
  }
}
