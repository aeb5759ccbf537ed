import type { ChatError, StreamFaultCode } from '@portico/chat'
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

export const UNREADABLE: ChatError = {
  status: 502,
  kind: 'api',
  message: 'the answer of the provider could not be read',
}

/** The gateway follows no redirect: it would send its API key to the host that the redirect names. */
export function redirected(status: number): ChatError {
  return { status: 502, kind: 'api', message: `the provider answered with a redirect (status ${status})` }
}

export function tooLarge(maxBytes: number): ChatError {
  const message = `the answer of the provider is larger than ${maxBytes} bytes, which \`frontend.http.maxBufferSize\` allows`
  return { status: 502, kind: 'api', message }
}

export const NOT_NEEDED = new Error('answer not needed')
/** The maximum size of an error body that is read whole, in bytes. */
export const MAX_ERROR_BYTES = 1024 * 1024
