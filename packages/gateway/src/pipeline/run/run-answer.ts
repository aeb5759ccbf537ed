import { sourceOf } from '@portico/http'
import { wholeBody } from '../context/body-use.ts'
import type { Reply } from '../context/reply.ts'
import type { AnsweredRequest, RequestContext } from '../context/request-context.ts'
import type { RunTelemetry } from './run-services.ts'

/** Makes a reply of the gateway the response to the client. */
export function answerWith(rx: RequestContext, reply: Reply, date: string): void {
  rx.reason = reply.reason
  rx.status = reply.status
  rx.responseHeaders = reply.headers
  rx.responseHeaders.add('date', date)
  rx.responseBody = sourceOf(reply.body)
  rx.bufferedResponse = wholeBody(reply.body)
}

/** Gives the client of a denied request the id of its record, and nothing else of the record. */
export function nameDecision(rx: AnsweredRequest, telemetry: Pick<RunTelemetry, 'recordId'>): void {
  const isDeniedItem = rx.mcp?.outcome === 'denied'
  if (rx.reason === 'DirectResponse') return
  rx.decisionId = telemetry.recordId(rx)
  // A denied MCP item gets no header, because it would distinguish a hidden tool from an unknown tool.
  if (rx.decisionId !== null && !isDeniedItem) rx.responseHeaders.addChecked('x-portico-decision', rx.decisionId)
}

/** Closes the calls that policies still have open when their request ends. */
export function closeOpen(rx: RequestContext, cause: Error | null): void {
  for (const call of rx.open?.values() ?? []) call.close(cause)
  rx.open = null
}
