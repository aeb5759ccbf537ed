import { clientCallId } from '../../tool-calls/client-call-id.ts'
import { collectResponse } from '../../collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import { put } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject, ToolCallPart } from '../../middle.ts'
import { customNames } from '../../tool-calls/tool-names.ts'
import { FINISH_WORDS } from './finish.ts'
import { reasoningForClient } from './reasoning-fields.ts'
import { encodeToolCall } from './tool-calls.ts'
import { encodeUsage } from './usage.ts'

export function encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject {
  const { id, model, created, parts, usage, finish } = collectResponse(events)
  const customs = customNames(context.request)
  const texts = parts.filter((part) => part.type === 'text')
  const refusals = parts.filter((part) => part.type === 'refusal')
  const calls = parts.filter((part) => part.type === 'toolCall')
  const annotations = texts.flatMap(({ rest }) => (Array.isArray(rest?.annotations) ? rest.annotations : []))
  const encodeCall = (call: ToolCallPart): JsonObject =>
    encodeToolCall(customs.has(call.name) ? { ...call, custom: true } : call, call.name, clientCallId(call), true)
  const message: JsonObject = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.map((part) => part.text).join(''),
    refusal: refusals.length === 0 ? null : refusals.map((part) => part.text).join(''),
  }
  // Mostly there is nothing but text.
  if (texts.length < parts.length) Object.assign(message, reasoningForClient(parts))
  if (annotations.length > 0) message.annotations = annotations
  if (calls.length > 0) message.tool_calls = calls.map(encodeCall)
  const encoded: JsonObject = {
    id: id || context.newId('chatcmpl-'),
    object: 'chat.completion',
    created: created ?? context.now,
    model: model || context.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH_WORDS[finish?.reason ?? 'stop'] }],
  }
  if (usage !== null) encoded.usage = encodeUsage(usage)
  put(encoded, 'service_tier', usage?.serviceTier)
  return encoded
}
