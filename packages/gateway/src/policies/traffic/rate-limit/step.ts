import { ConfigFault } from '../../../pipeline/config-fault.ts'
import type { Failure } from '../../../pipeline/failure.ts'
import type { RateLimitState, RequestContext, TokenAccount } from '../../../pipeline/request-context.ts'
import { failureReply } from '../../../pipeline/failure-reply.ts'
import { type Env, implementBoth } from '../../../pipeline/step.ts'
import type { HeaderBlock } from '../../../net/header-block.ts'
import { Budget } from '../../../state/budget.ts'
import { conditional } from '../../conditional.ts'
import type { RateLimitConfig } from './schema.ts'
import { type Limit, takeFromAll } from './take-from-all.ts'

export const rateLimit = conditional(
  implementBoth<RateLimitConfig>((config, env) => {
    const [first, ...others] = config.local.map((local, index) => limitOf(local, index, env))
    if (first === undefined) return null
    const limits: [Limit, ...Limit[]] = [first, ...others]
    const account = tokenAccount(limits, env)
    return {
      request(rx) {
        const { limit, standing } = takeFromAll(limits, env.monotonic())
        const { granted, remaining } = standing
        // Rounded up: who waits that long is served.
        const resetSeconds = Math.ceil(standing.resetMs / 1000)
        rx.rateLimit = { limit: limit.budget.capacity, remaining, resetSeconds }
        if (rx.trace !== null) {
          rx.trace.note({ code: granted ? 'within_limit' : 'rate_limited', limit: limit.name, remaining, resetSeconds })
        }
        if (granted) {
          if (account !== null) rx.tokenAccounts = [...rx.tokenAccounts, account]
          return
        }
        rx.error = `${exceeded.message}: ${limit.name}`
        const reply = failureReply(exceeded, rx.headers.get('content-type'))
        reply.headers.add('retry-after', String(resetSeconds))
        return reply
      },
      response(rx) {
        if (rx.rateLimit !== null) tell(rx.rateLimit, rx.responseHeaders)
      },
      ...(account !== null && {
        done({ llm }: RequestContext) {
          if (llm !== null && llm.totalTokens > llm.chargedTokens) account.charge(llm.totalTokens - llm.chargedTokens)
        },
      }),
    }
  }),
)

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

type LocalLimit = RateLimitConfig['local'][number]

const exceeded: Failure = { status: 429, message: 'rate limit exceeded', reason: 'RateLimit' }
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

/** A backend that speaks of its own limit is let speak: a mixture of both would be wrong about both. */
function tell({ limit, remaining, resetSeconds }: RateLimitState, headers: HeaderBlock): void {
  if (headers.has('x-ratelimit-limit') || headers.has('x-ratelimit-remaining') || headers.has('x-ratelimit-reset'))
    return
  headers.addChecked('x-ratelimit-limit', String(limit))
  headers.addChecked('x-ratelimit-remaining', String(remaining))
  headers.addChecked('x-ratelimit-reset', String(resetSeconds))
}
