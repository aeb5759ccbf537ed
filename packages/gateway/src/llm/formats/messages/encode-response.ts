import { clientCallId } from '../../tool-calls/client-call-id.ts'
import { parseExactJson } from '../../../wire/exact-json.ts'
import type { AnswerPart, CollectedResponse } from '../../collect-response.ts'
import { collectResponse } from '../../collect-response.ts'
import type { ResponseContext } from '../../format.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { madeBy, withItemId } from '../../provenance.ts'
import { STOP_REASONS } from './finish.ts'
import { inputOf } from './tool-input.ts'
import { encodeUsage } from './usage.ts'

export function encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject {
  const folded = collectResponse(events)
  return {
    ...messageHead(folded, context),
    content: folded.parts.flatMap(encodeBlocks),
    ...stopOf(folded),
    usage: encodeUsage(folded.usage ?? {}),
  }
}

export function messageHead({ id, model }: CollectedResponse, context: ResponseContext): JsonObject {
  return { id: id || context.newId('msg_'), type: 'message', role: 'assistant', model: model || context.model }
}

export function stopOf({ finish, parts }: CollectedResponse): JsonObject {
  const reason = finish?.reason ?? 'stop'
  const isRefusal = reason === 'stop' && parts.some((part) => part.type === 'refusal')
  return {
    stop_reason: isRefusal ? STOP_REASONS.filtered : STOP_REASONS[reason],
    stop_sequence: finish?.stopSequence ?? null,
  }
}

/** Reasoning that is both told and sealed becomes two blocks. */
function encodeBlocks(part: AnswerPart): JsonObject[] {
  switch (part.type) {
    case 'text': {
      const citations = part.rest?.citations
      return [{ type: 'text', text: part.text, ...(citations !== undefined && { citations }) }]
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

/** Clients of this format get what its vendor made as it made it. */
export function bare(sealed: string): string {
  return madeBy('anthropic', sealed) ?? sealed
}

export function redacted(opaque: string, id: string | undefined): JsonObject {
  return { type: 'redacted_thinking', data: madeBy('anthropic', opaque) ?? withItemId(opaque, id) }
}
