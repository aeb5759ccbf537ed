import { Deadline } from '@portico/http'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import type { Reply } from '../../../pipeline/context/reply.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { SpendingRefusal } from '../../../pipeline/context/spending.ts'
import { implement } from '../../../pipeline/context/step.ts'
import { BudgetClaim } from './claim.ts'
import { BudgetLimit, LEASE_MS } from './limit.ts'
import type { BudgetConfig } from './schema.ts'

export const budget = implement<BudgetConfig>(({ limits, outputTokens, unpriced }, env) => {
  const budgets = limits.map((limit) => new BudgetLimit(limit, env))
  const settings = { outputTokens, allowsUnpriced: unpriced === 'Allow' }
  /** Requests that are under way. */
  const open = new Map<RequestContext, BudgetClaim>()
  const renewal = new Deadline(() => {
    for (const claim of open.values()) claim.renew()
    if (open.size > 0) env.deadlines.set(renewal, RENEWAL_MS)
  })

  return {
    request(rx) {
      const shares = []
      for (const limit of budgets) {
        const slot = limit.slotOf(rx)
        if (slot === null) return refuse(rx, noRoom(limit))
        shares.push({ limit, slot })
      }
      const claim = new BudgetClaim(shares, settings, env.clock)
      const refusal = claim.exhausted()
      if (refusal !== null) return refuse(rx, refusal)
      rx.spending = claim
      if (open.size === 0) env.deadlines.set(renewal, RENEWAL_MS)
      open.set(rx, claim)
    },
    done(rx) {
      const claim = open.get(rx)
      // A claim that is not settled, whatever fails, ends with its lease.
      open.delete(rx)
      claim?.settle(rx)
    },
  }
})

/** Several renewals fit into a lease, because a busy thread may be late. */
const RENEWAL_MS = LEASE_MS / 6

function noRoom({ name }: BudgetLimit): SpendingRefusal {
  const message = `budget exceeded: ${name} has no room for another key`
  return { status: 429, code: 'budget_exceeded', message, retryAfter: null }
}

function refuse(rx: RequestContext, { status, code, message, retryAfter }: SpendingRefusal): Reply {
  rx.note({ code, reason: message })
  rx.error = message
  const reply = failureReply({ status, message, reason: 'RateLimit', code }, rx.headers.get('content-type'))
  if (retryAfter !== null) reply.headers.add('retry-after', String(retryAfter))
  return reply
}
