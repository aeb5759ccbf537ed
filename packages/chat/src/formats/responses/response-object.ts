import type { CollectedResponse } from '../../response/collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import { objectAt } from '@portico/http/json'
import type { ChatError, FinishReason, JsonObject } from '../../middle.ts'
import { encodeText } from './encode-text.ts'
import { encodeTools } from './encode-tools.ts'
import { encodeUsage } from './usage.ts'

/**
 * The response before any output, with the settings of the request. Instructions are not repeated, because the operator
 * may have added some that are not for clients.
 */
export function emptyResponse(context: ResponseContext, { id, model, created }: CollectedResponse): JsonObject {
  const { request } = context
  const { rest, sampling } = request
  return {
    id: id === '' ? context.newId('resp_') : id.startsWith('resp_') ? id : `resp_${id}`,
    object: 'response',
    created_at: created ?? context.now,
    status: 'in_progress',
    background: rest.background ?? false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: sampling.maxTokens ?? null,
    metadata: rest.metadata ?? {},
    model: model || context.model,
    output: [],
    parallel_tool_calls: request.parallelTools ?? true,
    previous_response_id: rest.previous_response_id ?? null,
    reasoning: { effort: null, summary: null, ...request.reasoning?.rest },
    temperature: sampling.temperature ?? 1,
    text: { format: { type: 'text' }, ...encodeText(request.output, objectAt(rest, 'text')) },
    tool_choice: 'auto',
    tools: [],
    ...encodeTools(request, (name) => name),
    top_p: sampling.topP ?? 1,
    truncation: rest.truncation ?? 'disabled',
    usage: null,
    user: request.user,
  }
}

export type EndStatus = 'completed' | 'incomplete' | 'failed'

export function endStatus({ finish, error }: CollectedResponse): EndStatus {
  if (finish === null || error !== null) return 'failed'
  return INCOMPLETE[finish.reason] === undefined ? 'completed' : 'incomplete'
}

/** The same when it is over. */
export function endedResponse(empty: JsonObject, output: JsonObject[], folded: CollectedResponse): JsonObject {
  const { usage, finish, error } = folded
  const status = endStatus(folded)
  return {
    ...empty,
    status,
    error: error === null ? null : { code: error.code ?? CODES[error.kind] ?? 'server_error', message: error.message },
    incomplete_details:
      status === 'incomplete' && finish !== null ? { reason: INCOMPLETE[finish.reason] ?? null } : null,
    output,
    ...(usage?.serviceTier !== undefined && { service_tier: usage.serviceTier }),
    usage: usage === null ? null : encodeUsage(usage),
  }
}

const INCOMPLETE: Readonly<Partial<Record<FinishReason, string>>> = {
  length: 'max_output_tokens',
  contextWindow: 'max_output_tokens',
  filtered: 'content_filter',
}

const CODES: Readonly<Partial<Record<ChatError['kind'], string>>> = {
  rateLimit: 'rate_limit_exceeded',
  invalid: 'invalid_prompt',
}
