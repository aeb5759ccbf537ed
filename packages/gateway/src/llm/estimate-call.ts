import { type ClientFormat, type JsonObject, UnsupportedField } from '@portico/chat'
import { estimateRequest } from '@portico/chat/tokens'
import { objectAt } from '@portico/http/json'

/** The estimated tokens of a prompt. A body that is no chat, such as that of embeddings, counts as text. */
export function estimatePrompt(body: JsonObject | null, format: ClientFormat | null): number {
  if (body === null) return 0
  const request = format === null || body.input !== undefined ? null : format.decodeRequest({ max_tokens: 1, ...body })
  if (request === null || request instanceof UnsupportedField) return Math.ceil(JSON.stringify(body).length / 4)
  return estimateRequest(request)
}

/**
 * The most output tokens that a call may produce, over all choices. A client may set several maxima, and servers differ in
 * which one they follow, so the largest counts; `assumed` without a maximum.
 */
export function outputMaximum(body: JsonObject, assumed: number): number {
  const config = objectAt(body, body.generationConfig === undefined ? 'generation_config' : 'generationConfig')
  const choices = [body.n, config.candidateCount, config.candidate_count].find(isCount) ?? 1
  const maxima = [
    ...[body.max_completion_tokens, body.max_tokens, body.max_output_tokens],
    ...[config.maxOutputTokens, config.max_output_tokens],
  ].filter(isCount)
  return (maxima.length === 0 ? assumed : Math.max(...maxima)) * choices
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 2 ** 31
}
