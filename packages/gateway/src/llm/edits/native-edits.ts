import { isObject, type MemberEdits, NO_EDITS } from '@portico/http/json'
import type { Json, JsonObject } from '@portico/chat'

/**
 * The edits that a Chat Completions body needs when it is forwarded without translation: the same ones that the encoder
 * makes in translated requests.
 */
export function completionsEdits(body: JsonObject, quirks: ReadonlySet<string>): MemberEdits {
  const edits = new Map<string, Json | undefined>()
  if (quirks.has('completionTokens') && typeof body.max_tokens === 'number') {
    edits.set('max_tokens', undefined)
    edits.set('max_completion_tokens', body.max_completion_tokens ?? body.max_tokens)
  }
  if (body.stream === true && !quirks.has('noStreamOptions') && !asksForUsage(body)) {
    const options = isObject(body.stream_options) ? body.stream_options : {}
    edits.set('stream_options', { ...options, include_usage: true })
  }
  return edits.size === 0 ? NO_EDITS : edits
}

/** Whether the client asked for usage in a stream. If not, the usage record is withheld from the client. */
export function asksForUsage(body: JsonObject): boolean {
  return isObject(body.stream_options) && body.stream_options.include_usage === true
}
