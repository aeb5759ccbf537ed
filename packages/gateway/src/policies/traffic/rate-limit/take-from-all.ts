import type { Spendable, Standing } from '../../../state/budget-rule.ts'

/** A limit of the policy. */
export interface Limit {
  /** The name in traces and logs, such as `100/Seconds+20`. */
  name: string
  /** Requests are taken when they come; tokens are charged when they are known, so a request needs only that some are left. */
  counts: 'requests' | 'tokens'
  budget: Spendable
  /** The name of the budget's key in traces and logs. */
  hash?: string
}

/** The limit that clients are told of: the one with the least left, or the one that refuses. */
export interface Decision {
  limit: Limit
  standing: Standing
}

/** Takes one request from every budget of requests, or from none. */
export function takeFromAll(limits: readonly [Limit, ...Limit[]], now: number): Decision {
  // Checks all budgets first, so that units rarely have to be given back, which other requests would miss meanwhile.
  const refusal = limits.length === 1 ? null : lastingRefusal(limits, now)
  if (refusal !== null) return refusal
  const taken: Decision[] = []
  for (const limit of limits) {
    const standing = limit.counts === 'tokens' ? limit.budget.look(now) : limit.budget.take(1, now)
    if (!standing.granted) {
      for (const before of taken) {
        if (before.limit.counts === 'requests') before.limit.budget.giveBack(1, before.standing.window, now)
      }
      return { limit, standing }
    }
    taken.push({ limit, standing })
  }
  return taken.reduce((tightest, next) => (next.standing.remaining < tightest.standing.remaining ? next : tightest))
}

/** The exhausted limit with the latest reset: a client that waits for it passes the others too. */
function lastingRefusal(limits: readonly Limit[], now: number): Decision | null {
  let lasting: Decision | null = null
  for (const limit of limits) {
    const standing = limit.budget.look(now)
    if (standing.granted) continue
    if (lasting === null || standing.resetMs > lasting.standing.resetMs) lasting = { limit, standing }
  }
  return lasting
}
