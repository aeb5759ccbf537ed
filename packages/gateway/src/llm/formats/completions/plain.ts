import { isObject, textAt } from '../../../wire/json.ts'
import type { AnswerFacts } from '../../format.ts'
import type { Json, JsonObject } from '../../middle.ts'
import { decodeFinish } from './finish.ts'
import { usageOf } from './usage.ts'

/** Whether a request has nothing but texts and asks for nothing but text: then it passes, whatever the provider. */
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
  // Calls and reasoning stand in members of their own.
  for (const name in message) if (name !== 'role' && name !== 'content') return false
  return true
}

/** What the answer says of itself, as the chunk reader finds it; null where that takes a closer look. */
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
  // A text that stopped it.
  const isSequence = reason === 'stop' && word !== undefined && textAt(choice, 'stop_reason') !== undefined
  return { id, model, usage: usageOf(body), finish: isSequence ? 'stopSequence' : reason }
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null
}
