import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { RequestTrace } from '../../pipeline/context/trace.ts'
import type { McpVerdict } from '../authorize.ts'
import type { McpRecord, McpItem, McpOutcome } from '../../records/mcp-record.ts'

/** Writes the rules that decided to the trace, and to the record of a denied call. */
export function traceDecision(rx: RequestContext, item: McpItem, { isAllowed, isAmbiguous, rules }: McpVerdict): void {
  const spelling = isAmbiguous ? { spelling: AMBIGUOUS } : {}
  if (!isAllowed) rx.notes = { code: 'mcp_denied', item, rules, ...spelling }
  if (rx.trace === null) return
  const message = { type: 'mcpAuthorization', item, rules, result: isAllowed ? 'allow' : 'deny', ...spelling }
  rx.trace.emit(message, isAllowed ? 'success' : 'error')
}

/** Writes the outcome of a message to the trace. */
export function traceCall(trace: RequestTrace, record: McpRecord): void {
  const { method, target, item, outcome, errorCode, errorMessage, targetMillis } = record
  const failure = errorCode === null ? {} : { code: errorCode, error: errorMessage }
  const message = { type: 'mcpCall', method, target, item, outcome, durationMs: targetMillis, ...failure }
  trace.emit(message, outcome === null ? 'info' : severities[outcome])
}

const severities = {
  ok: 'success',
  error: 'error',
  tool_error: 'warn',
  denied: 'error',
  unavailable: 'error',
  cancelled: 'warn',
} as const satisfies Record<McpOutcome, string>

const AMBIGUOUS = 'the name is not canonical, and the target does not list it'
