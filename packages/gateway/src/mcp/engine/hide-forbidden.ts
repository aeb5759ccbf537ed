import type { RuleOutcome } from '../../pipeline/policy/authorization.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { RequestTrace } from '../../pipeline/context/trace.ts'
import type { McpVerdict } from '../authorize.ts'
import type { McpRecord, McpItem, McpOutcome } from '../../records/mcp-record.ts'
import { type Endpoint, targetNamed } from './endpoint.ts'

/** Writes the rules that decided to the trace, and to the record of a denied call. */
export function traceDecision(rx: RequestContext, item: McpItem, { isAllowed, isAmbiguous, rules }: McpVerdict): void {
  const spelling = isAmbiguous ? { spelling: AMBIGUOUS } : {}
  if (!isAllowed) rx.notes = { code: 'mcp_denied', item, rules, ...spelling }
  if (rx.trace === null) return
  const message = { type: 'mcpAuthorization', item, rules, result: isAllowed ? 'allow' : 'deny', ...spelling }
  rx.trace.emit(message, isAllowed ? 'success' : 'error')
}

/** Writes the outcome of a message to the trace. */
export function traceCall(trace: RequestTrace, facts: McpRecord): void {
  const { method, target, item, outcome, errorCode, errorMessage, targetMillis } = facts
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

/** Tells who watches what was taken out of a list, and by which rules; the config of the target needs none. */
export function traceFiltered(
  rx: RequestContext,
  list: { kept: number; hidden: readonly McpItem[] },
  endpoint: Pick<Endpoint, 'namer' | 'targets'>,
): void {
  if (rx.trace === null || list.hidden.length === 0) return
  const items = list.hidden.slice(0, MOST_SHOWN).map((item) => {
    if (!endpoint.namer.offers(item)) return { ...item, by: 'tools' }
    return { ...item, rules: targetNamed(endpoint, item.target).judge.decide(rx, item).rules.filter(isAgainst) }
  })
  const counts = { kept: list.kept, hidden: list.hidden.length }
  rx.trace.emit({ type: 'mcpFiltered', method: rx.mcp?.method ?? '', ...counts, items })
}

function isAgainst({ mode, matched, error }: RuleOutcome): boolean {
  return mode === 'deny' ? matched || error !== undefined : !matched
}

const AMBIGUOUS = 'the name is not canonical, and the target does not list it'
const MOST_SHOWN = 50
