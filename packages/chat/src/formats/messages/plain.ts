import { isObject, textAt } from '@portico/http/json'
import type { AnswerFacts } from '../../format.ts'
import type { Json, JsonObject } from '../../middle.ts'
import { decodeFinish, addReport, usageOf } from './event-reader.ts'

/**
 * Whether a request has only texts and asks only for text, so that it can be forwarded to any provider of this format.
 */
export function isPlain(body: JsonObject): boolean {
  const { messages } = body
  if (!Array.isArray(messages)) return false
  // Each of these members asks for thinking, or for more than a text.
  if ('thinking' in body || 'output_config' in body || 'output_format' in body) return false
  for (const message of messages) {
    if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant')) return false
    if (typeof message.content !== 'string' && !isTexts(message.content)) return false
  }
  return true
}

/** The metadata of the response as `EventReader` would find it; null when only `EventReader` can tell. */
export function plainFacts(body: JsonObject): AnswerFacts | null {
  const [id, model] = [textAt(body, 'id'), textAt(body, 'model')]
  if (!id || !model || !isTexts(body.content)) return null
  const usage = isObject(body.usage) ? usageOf(addReport({}, body.usage)) : null
  return { id, model, usage, finish: decodeFinish(textAt(body, 'stop_reason') ?? 'end_turn') }
}

function isTexts(content: Json | undefined): boolean {
  return Array.isArray(content) && content.every((part) => isObject(part) && part.type === 'text')
}
