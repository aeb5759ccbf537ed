import type { ResponseContext } from '../../format.ts'
import { objectAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, FinishReason, JsonObject } from '../../middle.ts'
import { createBlockReader } from './block-reader.ts'
import { decodeUsage } from './usage.ts'

/** The events of one answer, as Converse streams them; a whole answer is told in the same ones. */
export interface EventReader {
  event(type: string, payload: JsonObject): ChatEvent[]
  /** Nothing more will come; empty when the message did not stop. */
  end(): ChatEvent[]
}

export function createEventReader(context: ResponseContext): EventReader {
  const blocks = createBlockReader(context)
  let isStarted = false
  let finish: ChatEvent | null = null

  function start(): ChatEvent[] {
    if (isStarted) return []
    isStarted = true
    return [{ type: 'start', id: context.newId('bedrock-'), model: context.model }]
  }

  function read(type: string, payload: JsonObject): ChatEvent[] {
    const index = typeof payload.contentBlockIndex === 'number' ? payload.contentBlockIndex : 0
    switch (type) {
      case 'contentBlockStart':
        return blocks.start(index, objectAt(payload, 'start'))
      case 'contentBlockDelta':
        return blocks.delta(index, objectAt(payload, 'delta'))
      case 'contentBlockStop':
        return blocks.stop(index)
      case 'messageStop':
        finish = finishOf(payload)
        return blocks.stopAll()
      case 'metadata': {
        const usage = decodeUsage(payload)
        return usage === null ? [] : [{ type: 'usage', usage }]
      }
      default:
        return []
    }
  }

  return {
    event: (type, payload) => [...start(), ...read(type, payload)],
    // Usage comes behind the reason to stop, and nothing may come behind the end.
    end: () => (finish === null ? [] : [finish]),
  }
}

function finishOf(payload: JsonObject): ChatEvent {
  const reason = reasons.get(textAt(payload, 'stopReason') ?? '') ?? 'stop'
  const fields = objectAt(payload, 'additionalModelResponseFields')
  const stopSequence = textAt(fields, 'stop_sequence') ?? textAt(objectAt(fields, 'delta'), 'stop_sequence')
  return { type: 'finish', reason, ...(reason === 'stopSequence' && stopSequence !== undefined && { stopSequence }) }
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stopSequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'contextWindow'],
  ['tool_use', 'toolCalls'],
  ['content_filtered', 'filtered'],
  ['guardrail_intervened', 'filtered'],
])
