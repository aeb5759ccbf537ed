import { sourceOf } from '@portico/http'
import { wholeBody } from '../context/body-use.ts'
import type { Reply } from '../context/reply.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'

/** Makes a reply of the gateway itself the answer. */
export function answerWith(rx: RequestContext, reply: Reply, date: string): void {
  rx.reason = reply.reason
  rx.status = reply.status
  rx.responseHeaders = reply.headers
  rx.responseHeaders.add('date', date)
  rx.responseBody = sourceOf(reply.body)
  rx.bufferedResponse = wholeBody(reply.body)
}

/** Gives the client of a denied request the id of its record, and nothing else of the record. */
export function nameDecision(rx: AnsweredRequest, recordId: (rx: RequestContext) => string | null): void {
  const isDeniedItem = rx.mcp?.outcome === 'denied'
  if (rx.reason === 'DirectResponse') return
  rx.decisionId = recordId(rx)
  // A header that only denials have would tell a hidden tool from an unknown one.
  if (rx.decisionId !== null && !isDeniedItem) rx.responseHeaders.addChecked('x-portico-decision', rx.decisionId)
}

/** Closes the calls that policies still have open when their request ends. */
export function closeOpen(rx: RequestContext, cause: Error | null): void {
  for (const call of rx.open?.values() ?? []) call.close(cause)
  rx.open = null
}
