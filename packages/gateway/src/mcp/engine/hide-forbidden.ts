import type { RuleOutcome } from '../../pipeline/policy/authorization.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { McpVerdict } from '../authorize.ts'
import type { McpRecord, McpItem, McpOutcome } from '../../records/mcp-record.ts'
import { type Endpoint, targetNamed } from './endpoint.ts'

/** Tells the trace, and the record of a call that is denied, which rules decided. */
export function traceDecision(rx: RequestContext, item: McpItem, { isAllowed, isAmbiguous, rules }: McpVerdict): void {
  if (rules.length === 0) return
  const spelling = isAmbiguous ? { spelling: AMBIGUOUS } : {}
  if (!isAllowed) rx.notes = { code: 'mcp_denied', item, rules, ...spelling }
  if (rx.trace === null) return
  const message = { type: 'mcpAuthorization', item, rules, result: isAllowed ? 'allow' : 'deny', ...spelling }
  rx.trace.emit(message, isAllowed ? 'success' : 'error')
}

/** Tells who watches what came of a message. */
export function traceCall({ trace }: RequestContext, facts: McpRecord): void {
  if (trace === null) return
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
