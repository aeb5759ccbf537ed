import type { ResponseContext } from '../../format.ts'
import { countAt, isObject, objectAt, textAt } from '@portico/http/json'
import type { ChatError, ChatEvent, Json, JsonObject } from '../../middle.ts'
import type { RecordReader } from '../../streams/sse-json.ts'
import { type BlockReader, createBlockReader } from './block-reader.ts'
import { errorOfBody } from './errors.ts'
import { decodeFinish } from './finish.ts'
import { addReport, type OwnUsage, usageOf } from './usage.ts'

/**
 * Reads the events of one streamed response. A buffered response is read as the equal events, so that both paths agree.
 */
export class EventReader implements RecordReader {
  readonly #context: ResponseContext
  readonly #blocks = new Map<number, BlockReader>()
  #partCount = 0
  #lastType: string | undefined
  #usage: OwnUsage = {}
  #stopReason: string | null = null
  #stopSequence: string | undefined

  constructor(context: ResponseContext) {
    this.#context = context
  }

  record(body: JsonObject, event: string): ChatEvent[] {
    const index = countAt(body, 'index') ?? 0
    switch (textAt(body, 'type') ?? event) {
      case 'message_start':
        return this.#start(objectAt(body, 'message'))
      case 'content_block_start':
        return this.#startBlock(index, objectAt(body, 'content_block'))
      case 'content_block_delta':
        return this.#blocks.get(index)?.delta(objectAt(body, 'delta')) ?? []
      case 'content_block_stop': {
        const events = this.#blocks.get(index)?.end() ?? []
        this.#blocks.delete(index)
        return events
      }
      case 'message_delta': {
        this.#noteStop(objectAt(body, 'delta'))
        return this.#readUsage(body)
      }
      case 'message_stop':
        return this.#finish()
      case 'error':
        return [{ type: 'error', error: errorOfBody(body) ?? UNNAMED_ERROR }]
      default:
        // `ping`, and event types of later versions.
        return []
    }
  }

  /** Ends the stream; it is complete when the stop reason has come. */
  end(): ChatEvent[] {
    return this.#stopReason === null ? [] : this.#finish()
  }

  /** Reads a buffered response: the same events without the records in between. */
  whole(message: JsonObject, content: readonly Json[]): ChatEvent[] {
    const events = [this.#started(message)]
    for (const [index, block] of content.filter(isObject).entries()) {
      events.push(...this.#startBlock(index, block), ...(this.#blocks.get(index)?.end() ?? []))
      this.#blocks.delete(index)
    }
    this.#noteStop(message)
    events.push(...this.#readUsage(message), ...this.#finish())
    return events
  }

  #noteStop(delta: JsonObject): void {
    this.#stopReason = textAt(delta, 'stop_reason') ?? this.#stopReason
    this.#stopSequence = textAt(delta, 'stop_sequence') ?? this.#stopSequence
  }

  #started(message: JsonObject): ChatEvent {
    const id = textAt(message, 'id') || this.#context.newId('msg_')
    const model = textAt(message, 'model') || this.#context.model
    return { type: 'start', id, model }
  }

  #start(message: JsonObject): ChatEvent[] {
    return [this.#started(message), ...this.#readUsage(message)]
  }

  #startBlock(index: number, begun: JsonObject): ChatEvent[] {
    const before = this.#blocks.get(index)?.end() ?? []
    const isAfterText = this.#lastType === 'text'
    this.#lastType = textAt(begun, 'type')
    const block = createBlockReader(begun, this.#context, { nextPart: () => this.#partCount++, isAfterText })
    this.#blocks.set(index, block)
    return [...before, ...block.start()]
  }

  #readUsage(body: JsonObject): ChatEvent[] {
    if (!isObject(body.usage)) return []
    this.#usage = addReport(this.#usage, body.usage)
    const known = usageOf(this.#usage)
    return known === null ? [] : [{ type: 'usage', usage: known }]
  }

  #finish(): ChatEvent[] {
    const reason = decodeFinish(this.#stopReason ?? 'end_turn')
    const sequence = this.#stopSequence === undefined ? {} : { stopSequence: this.#stopSequence }
    const closed = [...this.#blocks.values()].flatMap((block) => block.end())
    this.#blocks.clear()
    return [...closed, { type: 'finish', reason, ...sequence }]
  }
}

const UNNAMED_ERROR: ChatError = { status: 502, kind: 'api', message: 'the provider answered with an error' }

export function decodeResponse(body: JsonObject, context: ResponseContext): ChatEvent[] | null {
  if (!Array.isArray(body.content)) {
    const error = errorOfBody(body)
    return error === null ? null : [{ type: 'error', error }]
  }
  return new EventReader(context).whole(body, body.content)
}
