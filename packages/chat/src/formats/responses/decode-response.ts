import type { ResponseContext } from '../../format.ts'
import { countAt, isObject, textAt } from '@portico/http/json'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { errorOfBody } from '../completions/errors.ts'
import { endEvents } from './finish.ts'
import { OutputReader } from './output-reader.ts'

export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  if (!Array.isArray(body.output)) {
    const error = errorOfBody(body)
    return error === null ? null : [{ type: 'error', error }]
  }
  const events: ChatEvent[] = [startEvent(body, context)]
  const reader = new OutputReader(context, (event) => events.push(event))
  for (const [at, item] of body.output.entries()) if (isObject(item)) reader.endItem(at, item)
  return [...events, ...endEvents(body, reader.hasCalls)]
}

export function startEvent(response: JsonObject, context: ResponseContext): ChatEvent {
  const created = countAt(response, 'created_at')
  return {
    type: 'start',
    id: textAt(response, 'id') ?? '',
    model: textAt(response, 'model') ?? context.model,
    ...(created !== undefined && { created: Math.floor(created) }),
  }
}
