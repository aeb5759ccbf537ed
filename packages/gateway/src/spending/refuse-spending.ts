import { failureReply } from '../pipeline/compiled/failure-reply.ts'
import type { Reply } from '../pipeline/context/reply.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import type { SpendingRefusal } from '../pipeline/context/spending.ts'

/** The refusal by a limit of requests, tokens or calls at once. */
export interface LimitRefusal extends Omit<SpendingRefusal, 'code'> {
  readonly code: 'key_limit_exceeded'
}

/** The response to a request that a budget or a limit refuses. */
export function refuseSpending(rx: RequestContext, refusal: SpendingRefusal | LimitRefusal): Reply {
  const { status, code, message, retryAfter } = refusal
  rx.note({ code, reason: message })
  rx.error = message
  const reply = failureReply({ status, message, reason: 'RateLimit', code }, rx.headers.get('content-type'))
  if (retryAfter !== null) reply.headers.add('retry-after', String(retryAfter))
  return reply
}

/** The refusal for a limit whose table has no room for another account. */
export function noRoom(name: string): LimitRefusal {
  const message = `limit exceeded: ${name} has no room for another key`
  return { status: 429, code: 'key_limit_exceeded', message, retryAfter: null }
}
