import { type ClientFormat, type JsonObject, UnsupportedField } from '@portico/chat'
import { estimateRequest } from '@portico/chat/tokens'

/** The estimated tokens of a prompt. A body that is no chat, such as that of embeddings, counts as text. */
export function estimatePrompt(body: JsonObject | null, format: ClientFormat | null): number {
  if (body === null) return 0
  const request = format === null || body.input !== undefined ? null : format.decodeRequest({ max_tokens: 1, ...body })
  if (request === null || request instanceof UnsupportedField) return Math.ceil(JSON.stringify(body).length / 4)
  return estimateRequest(request)
}

/** The most output tokens that the client allows, over all choices; null without a maximum. */
export function outputMaximum(body: JsonObject): number | null {
  const choices = isCount(body.n) ? body.n : 1
  const most = [body.max_completion_tokens, body.max_tokens, body.max_output_tokens].find(isCount)
  return most === undefined ? null : most * choices
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 2 ** 31
}
