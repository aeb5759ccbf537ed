import type { ResponseContext } from '../../format.ts'
import { countAt, isObject, objectAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import type { RecordReader } from '../../sse-json.ts'
import { type BlockReader, createBlockReader } from './block-reader.ts'
import { errorOfBody } from './errors.ts'
import { decodeFinish } from './finish.ts'
import { mergeUsage, type OwnUsage, usageOf } from './usage.ts'

/** Events of one streamed answer. A buffered answer is read as the events it would have been, so that both agree. */
export function createEventReader(context: ResponseContext): RecordReader {
  const blocks = new Map<number, BlockReader>()
  let partCount = 0
  let lastType: string | undefined
  let usage: OwnUsage = {}
  let stopReason: string | null = null
  let stopSequence: string | undefined

  function readUsage(body: JsonObject): ChatEvent[] {
    if (!isObject(body.usage)) return []
    usage = mergeUsage(usage, body.usage)
    const known = usageOf(usage)
    return known === null ? [] : [{ type: 'usage', usage: known }]
  }

  function closeBlocks(): ChatEvent[] {
    const events = [...blocks.values()].flatMap((block) => block.end())
    blocks.clear()
    return events
  }

  function finish(): ChatEvent[] {
    const reason = decodeFinish(stopReason ?? 'end_turn')
    const sequence = stopSequence === undefined ? {} : { stopSequence }
    return [...closeBlocks(), { type: 'finish', reason, ...sequence }]
  }

  return {
    record(body, event) {
      const index = countAt(body, 'index') ?? 0
      switch (textAt(body, 'type') ?? event) {
        case 'message_start': {
          const message = objectAt(body, 'message')
          const id = textAt(message, 'id') || context.newId('msg_')
          return [{ type: 'start', id, model: textAt(message, 'model') || context.model }, ...readUsage(message)]
        }
        case 'content_block_start': {
          const before = blocks.get(index)?.end() ?? []
          const begun = objectAt(body, 'content_block')
          const isAfterText = lastType === 'text'
          lastType = textAt(begun, 'type')
          const block = createBlockReader(begun, context, { nextPart: () => partCount++, isAfterText })
          blocks.set(index, block)
          return [...before, ...block.start()]
        }
        case 'content_block_delta':
          return blocks.get(index)?.delta(objectAt(body, 'delta')) ?? []
        case 'content_block_stop': {
          const events = blocks.get(index)?.end() ?? []
          blocks.delete(index)
          return events
        }
        case 'message_delta': {
          const delta = objectAt(body, 'delta')
          stopReason = textAt(delta, 'stop_reason') ?? stopReason
          stopSequence = textAt(delta, 'stop_sequence') ?? stopSequence
          return readUsage(body)
        }
        case 'message_stop':
          return finish()
        case 'error': {
          const error = errorOfBody(body) ?? {
            status: 502,
            kind: 'api',
            message: 'the provider answered with an error',
          }
          return [{ type: 'error', error }]
        }
        default:
          // `ping`, and what may be invented later.
          return []
      }
    },
    /** The reason came, so only the last word is missing. */
    end: () => (stopReason === null ? [] : finish()),
  }
}

export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  if (!Array.isArray(body.content)) {
    const error = errorOfBody(body)
    return error === null ? null : [{ type: 'error', error }]
  }
  const reader = createEventReader(context)
  const blocks = body.content
    .filter(isObject)
    .flatMap((block, index) => [
      ...reader.record({ type: 'content_block_start', index, content_block: block }, ''),
      ...reader.record({ type: 'content_block_stop', index }, ''),
    ])
  return [
    ...reader.record({ type: 'message_start', message: { ...body, usage: null } }, ''),
    ...blocks,
    ...reader.record({ type: 'message_delta', delta: body, usage: body.usage ?? null }, ''),
    ...reader.record({ type: 'message_stop' }, ''),
  ]
}
