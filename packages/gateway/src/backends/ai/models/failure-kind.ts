import type { ChatError } from '@portico/chat'
import type { ProviderFailure } from '../provider-attempts.ts'

/** The failures that `fallback` of a virtual model distinguishes. */
export const failureKinds = ['contextLength', 'contentFilter', 'rateLimit', 'overload', 'timeout'] as const

export type FailureKind = (typeof failureKinds)[number]

/** The kind of a failure; null for failures of other kinds. */
export function failureKind({ status, error, cause }: ProviderFailure): FailureKind | null {
  if (cause !== undefined)
    return cause.code === 'connect_timeout' || cause.code === 'response_timeout' ? 'timeout' : null
  return (error === undefined ? null : kindOfError(error)) ?? kindOfStatus(error?.status ?? status ?? 0)
}

function kindOfError({ kind, status, code = '', message }: ChatError): FailureKind | null {
  if (status === 413 || CONTEXT_CODES.test(code) || (isRequestFault(status) && CONTEXT_MESSAGES.test(message))) {
    return 'contextLength'
  }
  if (FILTER_CODES.test(code) || (isRequestFault(status) && FILTER_MESSAGES.test(message))) return 'contentFilter'
  if (kind === 'rateLimit') return 'rateLimit'
  if (kind === 'overloaded') return 'overload'
  return kind === 'timeout' ? 'timeout' : null
}

/** Messages are read only in errors about the request, because other errors may repeat parts of a conversation. */
function isRequestFault(status: number): boolean {
  return status === 400 || status === 422
}

function kindOfStatus(status: number): FailureKind | null {
  if (status === 429) return 'rateLimit'
  if (status === 503 || status === 529) return 'overload'
  return status === 408 || status === 504 ? 'timeout' : null
}

const CONTEXT_CODES = /^(?:context_length_exceeded|string_above_max_length|request_too_large|context_window_exceeded)$/
/** Only OpenAI has a code for a prompt that is too long; other vendors say it in words. */
const CONTEXT_MESSAGES =
  /maximum context length|context (?:window|length)|prompt is too long|input is too long|too many (?:input )?tokens|token count[^.]{0,80}exceeds|exceeds? the (?:maximum|max|model's)[^.]{0,40}tokens/i
const FILTER_CODES = /^(?:content_filter|content_policy_violation|ResponsibleAIPolicyViolation|moderation_blocked)$/
const FILTER_MESSAGES =
  /content (?:management )?(?:policy|filter)|blocked by (?:safety|content)|safety (?:system|filter)/i
