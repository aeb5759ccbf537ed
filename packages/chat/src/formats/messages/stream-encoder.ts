import { brokenStream } from '../../response/chat-error.ts'
import { type CollectedResponse, collectInto, nothingCollected } from '../../response/collect-response.ts'
import type { ResponseContext, StreamEncoder } from '../../format.ts'
import { textAt } from '@portico/http/json'
import type { ChatError, ChatEvent, JsonObject } from '../../middle.ts'
import { sseRecord } from '@portico/http/sse'
import { BlockEncoder } from './block-encoder.ts'
import { messageHead, stopOf } from './encode-response.ts'
import { errorBody } from './errors.ts'
import { encodeUsage } from './event-reader.ts'

type PartEvent = Extract<ChatEvent, { index: number }>

/**
 * Writes blocks one after the other, on which clients rely: events of a later part wait until the earlier part has
 * ended. The start waits for the next event, because usage may come directly after it.
 */
export function createStreamEncoder(context: ResponseContext): StreamEncoder {
  return new EventWriter(context)
}

class EventWriter implements StreamEncoder {
  readonly #context: ResponseContext
  readonly #folded: CollectedResponse = nothingCollected()
  readonly #blocks = new BlockEncoder(record)
  /** The part whose block is written. */
  #open: number | null = null
  /** Events of parts that began while another was open, in the order in which they began. */
  readonly #waiting = new Map<number, PartEvent[]>()
  #hasBegun = false
  #isOver = false

  constructor(context: ResponseContext) {
    this.#context = context
  }

  event(event: ChatEvent): string {
    if (this.#isOver) return ''
    collectInto(this.#folded, event)
    switch (event.type) {
      case 'start':
      case 'usage':
        return ''
      case 'partStart':
      case 'partDelta':
      case 'partEnd':
        return this.#begin() + this.#handle(event)
      case 'finish':
        return this.#begin() + this.#closeAll()
      case 'error':
        return this.#fail(event.error)
    }
  }

  end(): string {
    if (this.#isOver) return ''
    const folded = this.#folded
    if (folded.finish === null) return this.#fail(brokenStream('the answer ended too early'))
    this.#isOver = true
    const delta = record({ type: 'message_delta', delta: stopOf(folded), usage: encodeUsage(folded.usage ?? {}) })
    return delta + record({ type: 'message_stop' })
  }

  #begin(): string {
    if (this.#hasBegun) return ''
    this.#hasBegun = true
    const usage = encodeUsage(this.#folded.usage ?? {})
    const head = messageHead(this.#folded, this.#context)
    const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage }
    return record({ type: 'message_start', message })
  }

  #handle(event: PartEvent): string {
    if (this.#open !== null && this.#open !== event.index) {
      const events = this.#waiting.get(event.index)
      if (events === undefined) this.#waiting.set(event.index, [event])
      else events.push(event)
      return ''
    }
    let text = this.#encode(event)
    for (const [index, events] of this.#waiting) {
      if (this.#open !== null) break
      this.#waiting.delete(index)
      for (const waiting of events) text += this.#encode(waiting)
    }
    return text
  }

  #encode(event: PartEvent): string {
    this.#open = event.type === 'partEnd' ? null : event.index
    return this.#blocks.event(event)
  }

  /** Ends the parts that are still open at the end of the response. */
  #closeAll(): string {
    if (this.#open === null) return ''
    const open = [this.#open, ...this.#waiting.keys()]
    return open.map((index) => this.#handle({ type: 'partEnd', index })).join('')
  }

  #fail(error: ChatError): string {
    this.#isOver = true
    return record(errorBody(error))
  }
}

/** Every record is named by its type. */
function record(body: JsonObject): string {
  return sseRecord(JSON.stringify(body), textAt(body, 'type'))
}
