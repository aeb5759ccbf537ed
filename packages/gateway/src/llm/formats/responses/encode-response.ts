import type { ResponseContext } from '../../format.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { createResponseWriter } from './response-writer.ts'

export function encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject {
  const writer = createResponseWriter(context, { say: () => {}, delta: () => {} })
  for (const event of events) writer.event(event)
  return writer.end().response
}
