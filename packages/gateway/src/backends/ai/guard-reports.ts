import type { HeaderBlock } from '@portico/http'
import type { ExchangeContext, GuardNote } from '../../llm/guards/guard.ts'
import type { UnexaminedPart } from '../../llm/guards/whole/guard-request.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { ReadyProvider } from './provider.ts'

/** The headers and the span that the guards of a call get. */
export function guardContext(
  { spans }: RequestContext,
  requestHeaders: HeaderBlock,
  responseHeaders: HeaderBlock | null,
): ExchangeContext {
  return { requestHeaders, responseHeaders, span: spans?.placeOf('guardrail') ?? null }
}

/** Notes the verdicts of guards in the trace, and a rejection or failure for its explanation. */
export function noteVerdicts(
  rx: RequestContext,
  { phase, model }: { phase: 'request' | 'response'; model: string | null },
  notes: readonly GuardNote[],
): void {
  for (const note of notes) {
    if (note.verdict === 'reject' || note.verdict === 'failed') {
      rx.notes = { code: `guard_${note.verdict}`, phase, model, ...note }
    }
    rx.trace?.emit({ type: 'promptGuard', phase, ...note }, severityOf(note))
  }
}

function severityOf({ verdict }: GuardNote): 'info' | 'warn' | 'error' {
  return verdict === 'pass' ? 'info' : verdict === 'mask' ? 'warn' : 'error'
}

/** Notes in the trace that configured guards did not run. */
export function noteUnguarded({ trace }: RequestContext, { guards }: Pick<ReadyProvider, 'guards'>): void {
  if (trace === null) return
  const reason = 'requests of this type pass as they are'
  for (const phase of ['request', 'response'] as const) {
    if (guards[phase] !== null) trace.emit({ type: 'promptGuard', phase, verdict: 'notRun', reason }, 'warn')
  }
}

/** Names the parts of a request that no guard could examine. */
export function noteUnexamined({ trace }: RequestContext, unexamined: readonly UnexaminedPart[]): void {
  if (trace === null || unexamined.length === 0) return
  const found = [...new Set(unexamined.map(({ kind }) => kind))]
  const paths = unexamined.slice(0, MAX_PATHS).map(({ path }) => path)
  const more = unexamined.length > MAX_PATHS ? ` and ${unexamined.length - MAX_PATHS} more` : ''
  const reason = `cannot be examined: ${paths.join(', ')}${more}`
  trace.emit({ type: 'promptGuard', phase: 'request', verdict: 'unexamined', found, reason }, 'warn')
}

const MAX_PATHS = 10
