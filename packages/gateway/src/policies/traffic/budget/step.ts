import { Deadline } from '@portico/http'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import type { Reply } from '../../../pipeline/context/reply.ts'
import { joinSpending } from '../../../pipeline/context/join-spending.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { SpendingRefusal } from '../../../pipeline/context/spending.ts'
import { implement } from '../../../pipeline/context/step.ts'
import { BudgetClaim } from './claim.ts'
import { LEASE_MS } from '../../../stores/budgets/budget-store.ts'
import { SharedMemoryBudgets } from '../../../stores/budgets/shared-memory-budgets.ts'
import { BudgetLimit } from './limit.ts'
import type { BudgetConfig } from './schema.ts'

export const budget = implement<BudgetConfig>(({ limits: configs, outputTokens, unpriced }, env) => {
  const store = env.budgets ?? new SharedMemoryBudgets(env)
  const limits = configs.map((config) => new BudgetLimit(config, env, store))
  const settings = { outputTokens, allowsUnpriced: unpriced === 'Allow' }
  /** Requests that are under way. */
  const open = new Map<RequestContext, BudgetClaim>()
  const renewal = new Deadline(() => {
    for (const claim of open.values()) claim.renew()
    if (open.size > 0) env.deadlines.set(renewal, RENEWAL_MS)
  })

  return {
    request(rx) {
      const reservation = store.open(limits.map((limit) => limit.shareOf(rx)))
      const claim = new BudgetClaim(limits, reservation, settings)
      if (open.size === 0) env.deadlines.set(renewal, RENEWAL_MS)
      // The client may leave before a store has decided.
      open.set(rx, claim)
      const refusal = claim.exhausted()
      if (refusal instanceof Promise) return refusal.then((known) => begin(rx, claim, known))
      return begin(rx, claim, refusal)
    },
    done(rx) {
      const claim = open.get(rx)
      // A claim that is not settled, whatever fails, ends with its lease.
      open.delete(rx)
      claim?.settle(rx)
    },
  }

  function begin(rx: RequestContext, claim: BudgetClaim, refusal: SpendingRefusal | null): Reply | void {
    if (refusal === null) rx.spending = joinSpending(rx.spending, claim)
    else return refuse(rx, refusal)
  }
})

/** Several renewals fit into a lease, because a busy thread may be late. */
const RENEWAL_MS = LEASE_MS / 6

function refuse(rx: RequestContext, { status, code, message, retryAfter }: SpendingRefusal): Reply {
  rx.note({ code, reason: message })
  rx.error = message
  const reply = failureReply({ status, message, reason: 'RateLimit', code }, rx.headers.get('content-type'))
  if (retryAfter !== null) reply.headers.add('retry-after', String(retryAfter))
  return reply
}
