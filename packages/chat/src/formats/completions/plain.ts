import { isObject, textAt } from '@portico/http/json'
import type { AnswerFacts } from '../../format.ts'
import type { Json, JsonObject } from '../../middle.ts'
import { decodeFinish } from './chunk-reader.ts'
import { usageOf } from './usage.ts'

/**
 * Whether a request has only texts and asks only for text, so that it can be forwarded to any provider of this format.
 */
export function isPlain({ messages, response_format: wanted }: JsonObject): boolean {
  if (!Array.isArray(messages) || (wanted !== undefined && wanted !== null)) return false
  for (const message of messages) if (!isPlainMessage(message)) return false
  return true
}

function isPlainMessage(message: Json): boolean {
  if (!isObject(message) || typeof message.content !== 'string') return false
  const { role } = message
  if (role === 'user' || role === 'system' || role === 'developer') return true
  if (role !== 'assistant') return false
  // Tool calls and reasoning are separate members.
  for (const name in message) if (name !== 'role' && name !== 'content') return false
  return true
}

/** The metadata of the response as `ChunkReader` would find it; null when only `ChunkReader` can tell. */
export function plainFacts(body: JsonObject): AnswerFacts | null {
  const choice = Array.isArray(body.choices) ? body.choices[0] : undefined
  if (!isObject(choice) || !isAbsent(body.error)) return null
  const { message } = choice
  if (!isObject(message) || typeof message.content !== 'string') return null
  if (!isAbsent(message.tool_calls) || !isAbsent(message.function_call)) return null
  const [id, model] = [textAt(body, 'id'), textAt(body, 'model')]
  if (!id || !model) return null
  const word = textAt(choice, 'finish_reason')
  const reason = decodeFinish(word ?? 'stop', false)
  // A `stop_reason` text is the stop sequence that ended the response.
  const isSequence = reason === 'stop' && word !== undefined && textAt(choice, 'stop_reason') !== undefined
  return { id, model, usage: usageOf(body), finish: isSequence ? 'stopSequence' : reason }
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null
}
