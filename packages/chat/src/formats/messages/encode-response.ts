import { clientCallId } from '../../tools/call-ids.ts'
import { parseExactJson } from '@portico/http/json'
import { type AnswerPart, type CollectedResponse, collectResponse } from '../../response/collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import type { ChatEvent, FinishReason, JsonObject } from '../../middle.ts'
import { madeBy, withItemId } from '../../tools/provenance.ts'
import { inputOf } from './tool-input.ts'
import { encodeUsage } from './event-reader.ts'

export function encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject {
  const folded = collectResponse(events)
  const message = messageHead(folded, context)
  message.content = folded.parts.flatMap(encodeBlocks)
  addStop(message, folded)
  message.usage = encodeUsage(folded.usage ?? {})
  return message
}

export function messageHead({ id, model }: CollectedResponse, context: ResponseContext): JsonObject {
  return { id: id || context.newId('msg_'), type: 'message', role: 'assistant', model: model || context.model }
}

export function stopOf(folded: CollectedResponse): JsonObject {
  const stop: JsonObject = {}
  addStop(stop, folded)
  return stop
}

function addStop(message: JsonObject, { finish, parts }: CollectedResponse): void {
  const reason = finish?.reason ?? 'stop'
  const isRefusal = reason === 'stop' && parts.some((part) => part.type === 'refusal')
  message.stop_reason = isRefusal ? STOP_REASONS.filtered : STOP_REASONS[reason]
  message.stop_sequence = finish?.stopSequence ?? null
}

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  stopSequence: 'stop_sequence',
  toolCalls: 'tool_use',
  filtered: 'refusal',
  pause: 'pause_turn',
  contextWindow: 'model_context_window_exceeded',
}

/** Encodes a part; reasoning with both text and encrypted content becomes two blocks. */
function encodeBlocks(part: AnswerPart): JsonObject[] {
  switch (part.type) {
    case 'text': {
      const block: JsonObject = { type: 'text', text: part.text }
      const citations = part.rest?.citations
      if (citations !== undefined) block.citations = citations
      return [block]
    }
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'reasoning': {
      const isTold = part.text !== '' || part.signature !== undefined
      return [
        ...(isTold ? [{ type: 'thinking', thinking: part.text, signature: bare(part.signature ?? '') }] : []),
        ...(part.opaque !== undefined ? [redacted(part.opaque, part.id)] : []),
      ]
    }
    case 'toolCall': {
      const input = inputOf(parseExactJson(part.arguments), part.arguments).value
      return [{ type: 'tool_use', id: clientCallId(part), name: part.name, input }]
    }
    case 'native':
      return part.format === 'messages' ? [part.value] : []
  }
}

/** Removes the prefix from values of this format's vendor. */
export function bare(sealed: string): string {
  return madeBy('anthropic', sealed) ?? sealed
}

export function redacted(opaque: string, id: string | undefined): JsonObject {
  return { type: 'redacted_thinking', data: madeBy('anthropic', opaque) ?? withItemId(opaque, id) }
}
