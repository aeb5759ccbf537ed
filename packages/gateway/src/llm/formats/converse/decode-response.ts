import type { ResponseContext } from '../../format.ts'
import { isObject, objectAt, objectsAt } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { createEventReader } from './event-reader.ts'

/** A whole answer, told as the stream of the same answer. */
export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  const { message } = objectAt(body, 'output')
  if (!isObject(message)) return null
  const reader = createEventReader(context)
  const events = reader.event('messageStart', {})
  for (const [contentBlockIndex, block] of objectsAt(message, 'content').entries()) {
    const { start, deltas } = eventsOf(block)
    if (start !== null) events.push(...reader.event('contentBlockStart', { contentBlockIndex, start }))
    for (const delta of deltas) events.push(...reader.event('contentBlockDelta', { contentBlockIndex, delta }))
    events.push(...reader.event('contentBlockStop', { contentBlockIndex }))
  }
  return [...events, ...reader.event('messageStop', body), ...reader.event('metadata', body), ...reader.end()]
}

interface BlockEvents {
  start: JsonObject | null
  deltas: JsonObject[]
}

function eventsOf(block: JsonObject): BlockEvents {
  const { text, toolUse, reasoningContent, citationsContent } = block
  if (typeof text === 'string') return { start: null, deltas: [{ text }] }
  if (isObject(toolUse)) {
    return { start: { toolUse }, deltas: [{ toolUse: { input: JSON.stringify(toolUse.input ?? {}) } }] }
  }
  if (isObject(reasoningContent)) return { start: null, deltas: reasoningDeltas(reasoningContent) }
  if (isObject(citationsContent)) return { start: null, deltas: objectsAt(citationsContent, 'content') }
  return { start: null, deltas: [] }
}

function reasoningDeltas({ reasoningText, redactedContent }: JsonObject): JsonObject[] {
  if (typeof redactedContent === 'string') return [{ reasoningContent: { redactedContent } }]
  if (!isObject(reasoningText)) return []
  const { text, signature } = reasoningText
  return [{ reasoningContent: { text: text ?? '', ...(signature !== undefined && { signature }) } }]
}
