import type { Failure } from '../../../pipeline/context/failure.ts'
import type { RequestContext, TokenAccount } from '../../../pipeline/context/request-context.ts'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import type { Reply } from '../../../pipeline/context/reply.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { type LimitSource, limitSource } from './limit.ts'
import type { LocalLimitConfig } from './schema.ts'
import { type Decision, type Limit, takeFromAll } from './take-from-all.ts'

type Limits = readonly [Limit, ...Limit[]]

/** Limits that this gateway counts by itself. */
class LocalLimits {
  readonly countsTokens: boolean
  /** Without keys: the same for all requests. */
  readonly #fixed: Limits | null
  readonly #limitsOf: (rx: RequestContext) => Limits
  /** The account that a request's tokens are charged to, chosen when the request passed. */
  readonly #accounts = new WeakMap<RequestContext, TokenAccount>()
  readonly #env: Env

  constructor(first: LimitSource, others: readonly LimitSource[], env: Env) {
    const all = [first, ...others]
    this.countsTokens = all.some(({ counts }) => counts === 'tokens')
    this.#fixed = fixedOf(first, others)
    this.#limitsOf = (rx) => [first.of(rx), ...others.map((source) => source.of(rx))]
    this.#env = env
  }

  /** Returns a reply when one of the limits is exceeded. */
  take(rx: RequestContext): Reply | null {
    const limits = this.#fixed ?? this.#limitsOf(rx)
    const decision = takeFromAll(limits, this.#env.monotonic())
    const { limit, standing } = decision
    // Rounded up, so that a client that waits that long is served.
    const resetSeconds = Math.ceil(standing.resetMs / 1000)
    const isCounted = standing.hasNoRoom === undefined
    if (isCounted || !standing.granted) {
      rx.rateLimit = { limit: limit.budget.capacity, remaining: standing.remaining, resetSeconds }
    }
    if (!standing.granted) rx.note(noteOf(decision, resetSeconds))
    else if (rx.trace !== null) rx.trace.note(noteOf(decision, resetSeconds))
    if (standing.granted) {
      if (this.countsTokens) this.#open(limits, rx)
      return null
    }
    const whose = limit.hash === undefined ? '' : ` of key ${limit.hash}`
    rx.error = `${exceeded.message}: ${limit.name}${whose}${isCounted ? '' : ', which has no free budget slot'}`
    const reply = failureReply(exceeded, rx.headers.get('content-type'))
    reply.headers.add('retry-after', String(resetSeconds))
    return reply
  }

  /** Tokens go to the window in which they are known: there is no reservation. */
  #open(limits: Limits, rx: RequestContext): void {
    const budgets = limits.filter(({ counts }) => counts === 'tokens').map(({ budget }) => budget)
    const account: TokenAccount = {
      charge: (tokens) => {
        // Rounds a number of tokens, because a budget holds whole numbers.
        for (const budget of budgets) budget.charge(Math.ceil(tokens), this.#env.monotonic())
      },
    }
    this.#accounts.set(rx, account)
    rx.tokenAccounts = [...rx.tokenAccounts, account]
  }

  /** Charges the cost of a model call, once the call is over. */
  charge(rx: RequestContext, tokens: number): void {
    this.#accounts.get(rx)?.charge(tokens)
  }
}

function fixedOf(first: LimitSource, others: readonly LimitSource[]): Limits | null {
  if (first.fixed === null) return null
  const rest = others.map(({ fixed }) => fixed).filter((limit) => limit !== null)
  return rest.length === others.length ? [first.fixed, ...rest] : null
}

function noteOf({ limit, standing }: Decision, resetSeconds: number) {
  const { granted, remaining, hasNoRoom } = standing
  const whose = limit.hash === undefined ? {} : { budget: limit.hash }
  if (hasNoRoom) return { code: 'no_room', limit: limit.name, ...whose }
  const code = granted ? 'within_limit' : 'rate_limited'
  return { code, limit: limit.name, ...whose, remaining, resetSeconds }
}

export function localLimits(configs: readonly LocalLimitConfig[], env: Env): LocalLimits | null {
  const [first, ...others] = configs.map((local, index) => limitSource(local, index, env))
  return first === undefined ? null : new LocalLimits(first, others, env)
}

export const exceeded: Failure = { status: 429, message: 'rate limit exceeded', reason: 'RateLimit' }
