import type { ResponseContext } from '../../format.ts'
import { isObject } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { errorOfBody } from './errors.ts'
import { createEventReader } from './event-reader.ts'

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
