import { isObject, textAt } from '../../../wire/json.ts'
import type { AnswerFacts } from '../../format.ts'
import type { Json, JsonObject } from '../../middle.ts'
import { decodeFinish } from './finish.ts'
import { addReport, usageOf } from './usage.ts'

/** Whether a request has nothing but texts and asks for nothing but text: then it passes, whatever the provider. */
export function isPlain(body: JsonObject): boolean {
  const { messages } = body
  if (!Array.isArray(messages)) return false
  // Each of them asks for more than a text, or for thinking.
  if ('thinking' in body || 'output_config' in body || 'output_format' in body) return false
  for (const message of messages) {
    if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant')) return false
    if (typeof message.content !== 'string' && !isTexts(message.content)) return false
  }
  return true
}

/** What the answer says of itself, as the event reader finds it; null where that takes a closer look. */
export function plainFacts(body: JsonObject): AnswerFacts | null {
  const [id, model] = [textAt(body, 'id'), textAt(body, 'model')]
  if (!id || !model || !isTexts(body.content)) return null
  const usage = isObject(body.usage) ? usageOf(addReport({}, body.usage)) : null
  return { id, model, usage, finish: decodeFinish(textAt(body, 'stop_reason') ?? 'end_turn') }
}

function isTexts(content: Json | undefined): boolean {
  return Array.isArray(content) && content.every((part) => isObject(part) && part.type === 'text')
}
