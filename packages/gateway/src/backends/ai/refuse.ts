import { sourceOf } from '@portico/http'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { failureReply, inClientsFormat } from '../../pipeline/compiled/failure-reply.ts'
import type { UpstreamHandler } from '@portico/http/client'

/** Responds with a failure in place of a provider. */
export function refuse(rx: RequestContext, handler: UpstreamHandler, failure: Failure): void {
  rx.error ??= failure.message
  if (failure.code !== undefined) rx.notes ??= { code: failure.code }
  answerWith(rx, handler, failure.reply ?? failureReply(failure, rx.headers.get('content-type')))
}

/** Responds with the reply of a step in place of a provider. */
export function answerWith(rx: RequestContext, handler: UpstreamHandler, reply: Reply): void {
  const { status, headers, body, reason } = inClientsFormat(rx, reply)
  rx.reason = reason
  handler.responded({ status, headers, body: sourceOf(body) })
}
