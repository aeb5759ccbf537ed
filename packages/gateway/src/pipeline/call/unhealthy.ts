import type { UpstreamResponse } from '@portico/http/client'
import type { Expression } from '../expression/expression.ts'
import type { RequestContext } from '../context/request-context.ts'

/** Whether a response speaks against the health of whoever gave it; without a condition its status says so. */
export function speaksAgainst(
  condition: Expression | null,
  rx: RequestContext,
  { status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>,
): boolean {
  if (condition === null) return status >= 500
  const before = { status: rx.status, headers: rx.responseHeaders }
  rx.status = status
  rx.responseHeaders = headers
  const isUnhealthy = condition.isTrue(rx)
  // Whether this becomes the response is not known yet; or it has begun, and says now what is wrong.
  rx.status = before.status
  rx.responseHeaders = before.headers
  return isUnhealthy
}
