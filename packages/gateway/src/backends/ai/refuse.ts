import { sourceOf } from '../../net/body.ts'
import type { Failure } from '../../pipeline/failure.ts'
import type { RequestContext } from '../../pipeline/request-context.ts'
import { failureReply } from '../../pipeline/failure-reply.ts'
import type { UpstreamHandler } from '../../upstream/upstream-types.ts'

/** Answers instead of a provider. */
export function refuse(rx: RequestContext, handler: UpstreamHandler, failure: Failure): void {
  rx.reason = failure.reason
  rx.error = failure.message
  const { status, headers, body } = failureReply(failure, rx.headers.get('content-type'))
  handler.responded({ status, headers, body: sourceOf(body) })
}
