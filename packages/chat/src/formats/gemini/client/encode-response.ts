import { parseExactJson } from '@portico/http/json'
import type { ResponseContext } from '../../../format.ts'
import type { ChatEvent, FinishReason, JsonObject } from '../../../middle.ts'
import { type AnswerPart, type CollectedResponse, collectResponse } from '../../../response/collect-response.ts'
import { inputOf } from '../../messages/tool-input.ts'
import { encodeGrounding } from './encode-grounding.ts'
import { encodeUsage } from './encode-usage.ts'
import { callSignature, packedReasoning, thoughtSignature } from './signatures.ts'

export function encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject {
  const collected = collectResponse(events)
  const { parts, choices, finish } = collected
  const reasons = [finish?.reason ?? 'stop', ...(finish?.others ?? [])] as const
  const candidates = reasons.map((reason, index): JsonObject => {
    const own = choices === undefined ? parts : parts.filter((_, at) => (choices.get(at) ?? 0) === index)
    const firstCall = own.find((part) => part.type === 'toolCall')
    const content = { role: 'model', parts: own.flatMap((part) => encodePart(part, part === firstCall)) }
    return { content, finishReason: finishReason(reason, own), index, ...groundingOf(own) }
  })
  return { candidates, ...answerHead(collected, context) }
}

/** The members beside the candidates. */
export function answerHead({ id, model, usage }: CollectedResponse, context: ResponseContext): JsonObject {
  return {
    ...(usage !== null && { usageMetadata: encodeUsage(usage) }),
    modelVersion: model || context.model,
    responseId: id || context.newId('gemini-'),
  }
}

export function groundingOf(parts: readonly AnswerPart[]): JsonObject {
  const groundingMetadata = encodeGrounding(parts.filter((part) => part.type === 'text'))
  return groundingMetadata === null ? {} : { groundingMetadata }
}

export function finishReason(reason: FinishReason, parts: readonly AnswerPart[]): string {
  const isRefusal = reason === 'stop' && parts.some((part) => part.type === 'refusal')
  return isRefusal ? REASONS.filtered : REASONS[reason]
}

const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  stopSequence: 'STOP',
  toolCalls: 'STOP',
  pause: 'STOP',
  length: 'MAX_TOKENS',
  contextWindow: 'MAX_TOKENS',
  filtered: 'SAFETY',
}

/** Encodes a part; reasoning with both text and encrypted content becomes two parts. Gemini signs the first call of a response. */
export function encodePart(part: AnswerPart, isFirstCall: boolean): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ text: part.text }]
    case 'reasoning': {
      const { text, signature } = part
      const told = {
        text,
        thought: true,
        ...(signature !== undefined && { thoughtSignature: thoughtSignature(signature) }),
      }
      return [...(text !== '' || signature !== undefined ? [told] : []), ...sealedParts(part)]
    }
    case 'toolCall': {
      const args = inputOf(parseExactJson(part.arguments), part.arguments).value
      const { id, name, signature } = part
      const isMarked = isFirstCall || signature !== undefined
      return [{ functionCall: { id, name, args }, ...(isMarked && { thoughtSignature: callSignature(part) }) }]
    }
    case 'native':
      return part.format === 'gemini' ? [part.value] : []
  }
}

/** The encrypted reasoning of another vendor, which the client sends back with the conversation. */
export function sealedParts({ opaque, id }: { opaque?: string; id?: string }): JsonObject[] {
  return opaque === undefined ? [] : [{ text: '', thought: true, thoughtSignature: packedReasoning(opaque, id) }]
}
