import type { ResponseContext, StreamDecoder } from '../../format.ts'
import { isObject, objectAt, objectsAt, parseJsonObject, textAt, countAt } from '@portico/http/json'
import type { ChatError, ChatEvent, FinishReason, JsonObject, Usage } from '../../middle.ts'
import { BlockReader } from './block-reader.ts'
import { brokenStream } from '../../response/chat-error.ts'
import { type EventStreamMessage, EventStreamReader } from '../../streams/event-stream.ts'
import { exceptionOf } from './errors.ts'

/** Reads the events of one response as Converse streams them; a whole response is converted to the same events. */
class EventReader {
  readonly #context: ResponseContext
  readonly #blocks: BlockReader
  #isStarted = false
  #finish: ChatEvent | null = null

  constructor(context: ResponseContext) {
    this.#context = context
    this.#blocks = new BlockReader(context)
  }

  event(type: string, payload: JsonObject): ChatEvent[] {
    const events = this.#read(type, payload)
    if (this.#isStarted) return events
    this.#isStarted = true
    return [{ type: 'start', id: this.#context.newId('bedrock-'), model: this.#context.model }, ...events]
  }

  /** Nothing more will come; empty when the message did not stop. */
  end(): ChatEvent[] {
    // Usage comes after the stop reason, and `finish` must be the last event.
    return this.#finish === null ? [] : [this.#finish]
  }

  #read(type: string, payload: JsonObject): ChatEvent[] {
    const index = typeof payload.contentBlockIndex === 'number' ? payload.contentBlockIndex : 0
    switch (type) {
      case 'contentBlockStart':
        return this.#blocks.start(index, objectAt(payload, 'start'))
      case 'contentBlockDelta':
        return this.#blocks.delta(index, objectAt(payload, 'delta'))
      case 'contentBlockStop':
        return this.#blocks.stop(index)
      case 'messageStop':
        this.#finish = finishOf(payload)
        return this.#blocks.stopAll()
      case 'metadata': {
        const usage = decodeUsage(payload)
        return usage === null ? [] : [{ type: 'usage', usage }]
      }
      default:
        return []
    }
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

/** Decodes a whole response through the events of an equal stream. */
export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  const { message } = objectAt(body, 'output')
  if (!isObject(message)) return null
  const reader = new EventReader(context)
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

/** AWS event stream: messages of JSON, each with its type in a header. */
export class EventStreamDecoder implements StreamDecoder {
  readonly #messages = new EventStreamReader()
  readonly #reader: EventReader
  #isOver = false

  constructor(context: ResponseContext) {
    this.#reader = new EventReader(context)
  }

  push(chunk: Buffer): ChatEvent[] {
    const events: ChatEvent[] = []
    if (this.#isOver) return events
    for (const message of this.#messages.push(chunk)) if (!this.#isOver) events.push(...this.#read(message))
    const { failure } = this.#messages
    if (failure !== null && !this.#isOver) {
      events.push(this.#fail(brokenStream(`the provider sent a broken stream: ${failure}`)))
    }
    return events
  }

  end(): ChatEvent[] {
    if (this.#isOver) return []
    const events = this.#messages.isPartial ? [] : this.#reader.end()
    this.#isOver = true
    return events.length > 0 ? events : [this.#fail(brokenStream('the provider ended its answer too early'))]
  }

  #read({ headers, payload }: EventStreamMessage): ChatEvent[] {
    const body = parseJsonObject(payload.toString('utf8'))
    if (headers.get(':message-type') !== 'event') return [this.#fail(exceptionOf(headers, body))]
    if (body === null) return [this.#fail(brokenStream('the provider sent an event that is no JSON'))]
    return this.#reader.event(headers.get(':event-type') ?? '', body)
  }

  #fail(error: ChatError): ChatEvent {
    this.#isOver = true
    return { type: 'error', error }
  }
}

/**
 * The usage of a whole response or of a `metadata` event. Converse's `inputTokens` excludes tokens read from and
 * written to the cache.
 */
export function decodeUsage(body: JsonObject): Usage | null {
  const usage = objectAt(body, 'usage')
  const input = countAt(usage, 'inputTokens')
  const output = countAt(usage, 'outputTokens')
  if (input === undefined && output === undefined) return null
  const cacheRead = countAt(usage, 'cacheReadInputTokens')
  const cacheWrite = countAt(usage, 'cacheWriteInputTokens')
  const total = countAt(usage, 'totalTokens')
  const serviceTier = textAt(objectAt(body, 'serviceTier'), 'type')
  return {
    ...(input !== undefined && { input: input + (cacheRead ?? 0) + (cacheWrite ?? 0), providerInput: input }),
    ...(output !== undefined && { output }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(total !== undefined && { providerTotal: total }),
    ...(serviceTier !== undefined && { serviceTier }),
  }
}
