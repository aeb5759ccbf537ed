import { ObservedBody } from '@portico/http'
import type { Expression } from '../../../pipeline/expression/expression.ts'
import type { AnsweredRequest, RequestContext } from '../../../pipeline/context/request-context.ts'
import type { KeepBodies } from '../../../pipeline/run/run-services.ts'
import { KeptBytes } from '../../../telemetry/recorder/kept-bytes.ts'

/** Copies the bodies of requests that the expression selects: the body for the backend, and the body for the client. */
export function keptBodies(isWanted: Expression, maxBytes: number): KeepBodies {
  return {
    request(rx: RequestContext) {
      if (!isWanted.isTrue(rx)) return
      const kept = (rx.keptBodies = { request: new KeptBytes(maxBytes), response: new KeptBytes(maxBytes) })
      const whole = rx.bufferedBody?.whole ?? null
      // One that was read already need not be watched, and can be sent again.
      if (whole !== null) kept.request.chunk(whole)
      else if (rx.body.length !== 0) rx.body = new ObservedBody(rx.body, kept.request)
    },
    response(rx: AnsweredRequest) {
      if (rx.keptBodies !== null) rx.responseBody = new ObservedBody(rx.responseBody, rx.keptBodies.response)
    },
  }
}
