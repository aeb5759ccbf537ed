import { ConfigFault } from '../../../pipeline/config-fault.ts'
import type { Failure } from '../../../pipeline/failure.ts'
import type { RequestContext, TokenAccount } from '../../../pipeline/request-context.ts'
import { failureReply } from '../../../pipeline/failure-reply.ts'
import type { Reply } from '../../../pipeline/reply.ts'
import type { Env } from '../../../pipeline/step.ts'
import { Budget } from '../../../state/budget.ts'
import type { RateLimitConfig } from './schema.ts'
import { type Limit, takeFromAll } from './take-from-all.ts'

/** Limits that this gateway counts by itself. */
export class LocalLimits {
  readonly #limits: [Limit, ...Limit[]]
  readonly #account: TokenAccount | null
  readonly #env: Env

  constructor(limits: [Limit, ...Limit[]], env: Env) {
    this.#limits = limits
    this.#account = tokenAccount(limits, env)
    this.#env = env
  }

  get countsTokens(): boolean {
    return this.#account !== null
  }

  /** A reply where one of them is exceeded. */
  take(rx: RequestContext): Reply | null {
    const { limit, standing } = takeFromAll(this.#limits, this.#env.monotonic())
    const { granted, remaining } = standing
    // Rounded up: who waits that long is served.
    const resetSeconds = Math.ceil(standing.resetMs / 1000)
    rx.rateLimit = { limit: limit.budget.capacity, remaining, resetSeconds }
    if (rx.trace !== null) {
      rx.trace.note({ code: granted ? 'within_limit' : 'rate_limited', limit: limit.name, remaining, resetSeconds })
    }
    if (granted) {
      if (this.#account !== null) rx.tokenAccounts = [...rx.tokenAccounts, this.#account]
      return null
    }
    rx.error = `${exceeded.message}: ${limit.name}`
    const reply = failureReply(exceeded, rx.headers.get('content-type'))
    reply.headers.add('retry-after', String(resetSeconds))
    return reply
  }

  /** What a call to a model has cost, once it is over. */
  charge(tokens: number): void {
    this.#account?.charge(tokens)
  }
}

export function localLimits(configs: readonly LocalLimit[], env: Env): LocalLimits | null {
  const [first, ...others] = configs.map((local, index) => limitOf(local, index, env))
  return first === undefined ? null : new LocalLimits([first, ...others], env)
}

/** Tokens go to the window in which they are known: there is no reservation. */
function tokenAccount(limits: readonly Limit[], env: Env): TokenAccount | null {
  const budgets = limits.filter(({ counts }) => counts === 'tokens').map(({ budget }) => budget)
  if (budgets.length === 0) return null
  return {
    charge(tokens) {
      // Providers say what they like; a budget holds whole numbers.
      for (const budget of budgets) budget.charge(Math.ceil(tokens), env.monotonic())
    },
  }
}

type LocalLimit = NonNullable<RateLimitConfig['local']>[number]

export const exceeded: Failure = { status: 429, message: 'rate limit exceeded', reason: 'RateLimit' }
const windowMsByUnit = { Seconds: 1_000, Minutes: 60_000, Hours: 3_600_000 }

/** The attachment names the budget, so that all its routes, all workers and all generations spend from the same one. */
function limitOf(local: LocalLimit, index: number, env: Env): Limit {
  const { requests, tokens, unit, burst } = local
  const counts = tokens === undefined ? 'requests' : 'tokens'
  const amount = tokens ?? requests
  const name = `${amount}${counts === 'tokens' ? ' tokens' : ''}/${unit}${burst === 0 ? '' : `+${burst}`}`
  // Other numbers keep what was spent; windows of another length cannot.
  const cells = env.counters.cells(`${env.attachment}/local/${index}/${counts}/${unit}`)
  if (cells === null) {
    const found = `found no room for the limit ${name} of ${env.attachment}`
    throw new ConfigFault(local, [], { found, expected: 'fewer limits' })
  }
  return { name, counts, budget: new Budget({ cells, amount, burst, windowMs: windowMsByUnit[unit] }) }
}
