import { sourceOf } from '../../net/body.ts'
import type { Failure } from '../../pipeline/failure.ts'
import type { Rx } from '../../pipeline/request.ts'
import { rescue } from '../../pipeline/rescue.ts'
import type { UpstreamHandler } from '../../upstream/contract.ts'

/** Answers instead of a provider. */
export function refuse(rx: Rx, handler: UpstreamHandler, failure: Failure): void {
  rx.reason = failure.reason
  rx.error = failure.message
  const { status, headers, body } = rescue(failure, rx.headers.get('content-type'))
  handler.responded({ status, headers, body: sourceOf(body) })
}
