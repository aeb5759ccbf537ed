import { annotationsOf } from '../../response/annotations.ts'
import { clientCallId } from '../../tools/call-ids.ts'
import { type AnswerPart, collectResponse } from '../../response/collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import { choiceLogprobs } from '../../response/logprobs.ts'
import { put } from '@portico/http/json'
import type { ChatEvent, FinishReason, JsonObject, ToolCallPart } from '../../middle.ts'
import { customNames } from '../../tools/tool-names.ts'
import { wantsFunctionCall } from '../../translate/translate-request.ts'
import { finishWord } from './stream-encoder.ts'
import { reasoningForClient } from './reasoning-fields.ts'
import { encodeToolCall } from './tool-calls.ts'
import { encodeUsage } from './usage.ts'

export function encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject {
  const { id, model, created, parts, choices, usage, finish } = collectResponse(events)
  const reasons = [finish?.reason ?? 'stop', ...(finish?.others ?? [])] as const
  const encoded: JsonObject = {
    id: id || context.newId('chatcmpl-'),
    object: 'chat.completion',
    created: created ?? context.now,
    model: model || context.model,
    choices: reasons.map((reason, index) => {
      const own = choices === undefined ? parts : parts.filter((_, at) => (choices.get(at) ?? 0) === index)
      return encodeChoice(index, own, reason, context)
    }),
  }
  if (usage !== null) encoded.usage = encodeUsage(usage)
  put(encoded, 'service_tier', usage?.serviceTier)
  return encoded
}

function encodeChoice(
  index: number,
  parts: readonly AnswerPart[],
  reason: FinishReason,
  { request }: ResponseContext,
): JsonObject {
  const customs = customNames(request)
  const texts = parts.filter((part) => part.type === 'text')
  const refusals = parts.filter((part) => part.type === 'refusal')
  const calls = parts.filter((part) => part.type === 'toolCall')
  let length = 0
  const annotations = texts.flatMap(({ rest, text }) =>
    annotationsOf(rest, { start: length, end: (length += text.length) }),
  )
  const encodeCall = (call: ToolCallPart): JsonObject =>
    encodeToolCall(customs.has(call.name) ? { ...call, custom: true } : call, call.name, clientCallId(call), true)
  const message: JsonObject = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.map((part) => part.text).join(''),
    refusal: refusals.length === 0 ? null : refusals.map((part) => part.text).join(''),
  }
  // Most responses have only text.
  if (texts.length < parts.length) Object.assign(message, reasoningForClient(parts))
  if (annotations.length > 0) message.annotations = annotations
  const isLegacy = wantsFunctionCall(request)
  if (calls.length > 0 && isLegacy) message.function_call = functionCall(calls)
  else if (calls.length > 0) message.tool_calls = calls.map(encodeCall)
  return {
    index,
    message,
    logprobs: choiceLogprobs(texts.map(({ rest }) => rest)),
    finish_reason: finishWord(reason, isLegacy),
  }
}

/** The legacy member `function_call`, which has room for one call. */
function functionCall([call]: readonly ToolCallPart[]): JsonObject {
  const text = call?.arguments ?? ''
  return { name: call?.name ?? '', arguments: text === '' ? '{}' : text }
}
