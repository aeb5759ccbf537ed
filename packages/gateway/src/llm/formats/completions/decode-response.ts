import type { ResponseContext } from '../../format.ts'
import { objectAt, objectsAt } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { createChunkReader } from './chunk-reader.ts'
import { errorOfBody } from './errors.ts'
import { partOfDetail } from './reasoning-fields.ts'

export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  const [choice] = objectsAt(body, 'choices')
  if (choice === undefined && errorOfBody(body) === null) return null
  const reader = createChunkReader(context)
  const chunk = { ...body, choices: choice === undefined ? [] : [{ ...choice, index: 0, delta: wholeDelta(choice) }] }
  const events = reader.record(chunk, '')
  return events.at(-1)?.type === 'error' ? events : [...events, ...reader.done!()]
}

/** A whole message has no indexes, because its calls stand in order. */
function wholeDelta(choice: JsonObject): JsonObject {
  const message = objectAt(choice, 'message')
  // Nearly every message is a text alone.
  if (message.tool_calls === undefined && message.reasoning_details === undefined) return message
  const calls = objectsAt(message, 'tool_calls').map((call, index) => ({ ...call, index }))
  // Details say the same as the plain text, and more.
  const hasDetails = objectsAt(message, 'reasoning_details').some((detail) => partOfDetail(detail).length > 0)
  const { reasoning: _reasoning, reasoning_content: _content, ...others } = message
  return { ...(hasDetails ? others : message), tool_calls: calls }
}
