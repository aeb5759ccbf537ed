import type { UpstreamResponse } from '../upstream/upstream-types.ts'
import type { Expression } from './expression.ts'
import type { RequestContext } from './request-context.ts'

/** Whether a response speaks against the health of whoever gave it; without a condition its status says so. */
export function speaksAgainst(
  condition: Expression | null,
  rx: RequestContext,
  { status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>,
): boolean {
  if (condition === null) return status >= 500
  rx.status = status
  rx.responseHeaders = headers
  const isUnhealthy = condition.isTrue(rx)
  // Whether this becomes the response is not known yet.
  rx.status = 0
  rx.responseHeaders = null
  return isUnhealthy
}
