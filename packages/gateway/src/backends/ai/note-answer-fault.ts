import type { StreamFaultCode } from '@portico/chat'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import type { LlmRecord } from '../../records/llm-record.ts'

/** Why a response was not sent to the client, as in records. */
export type AnswerFaultCode = 'answer_unreadable' | 'answer_too_large' | 'connection_lost' | 'provider_redirected'

/** Logs, metrics and records count the request as failed by its backend. `error` has no credentials in it. */
export function noteAnswerFault(
  rx: RequestContext,
  { providerName, provider }: Pick<LlmRecord, 'providerName' | 'provider'>,
  { code, error }: { code: AnswerFaultCode | StreamFaultCode; error: string },
): void {
  rx.reason = 'UpstreamFailure'
  rx.error = error
  rx.notes = { code, provider: providerName || provider }
  rx.trace?.emit({ type: 'llmAnswerFailed', provider: providerName, code, reason: error }, 'error')
}
