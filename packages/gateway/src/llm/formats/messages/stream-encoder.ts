import { brokenStream } from '../../chat-error.ts'
import { nothingCollected, collectInto } from '../../collect-response.ts'
import type { ResponseContext, StreamEncoder } from '../../format.ts'
import { textAt } from '../../../wire/json.ts'
import type { ChatError, ChatEvent, JsonObject } from '../../middle.ts'
import { sseRecord } from '../../../wire/sse.ts'
import { BlockEncoder } from './block-encoder.ts'
import { messageHead, stopOf } from './encode-response.ts'
import { errorBody } from './errors.ts'
import { encodeUsage } from './usage.ts'

type PartEvent = Extract<ChatEvent, { index: number }>

/**
 * Blocks come one after the other here, and clients rely on it: what belongs to a later part waits until the earlier one
 * has ended. The start waits for the next event, because usage may come right behind it.
 */
export function createStreamEncoder(context: ResponseContext): StreamEncoder {
  const folded = nothingCollected()
  const blocks = new BlockEncoder(record)
  let open: number | null = null
  /** Events of parts that began while another was open, in the order in which they began. */
  const waiting = new Map<number, PartEvent[]>()
  let hasBegun = false
  let isOver = false

  function begin(): string {
    if (hasBegun) return ''
    hasBegun = true
    const usage = encodeUsage(folded.usage ?? {})
    const message = { ...messageHead(folded, context), content: [], stop_reason: null, stop_sequence: null, usage }
    return record({ type: 'message_start', message })
  }

  function handle(event: PartEvent): string {
    if (open !== null && open !== event.index) {
      const events = waiting.get(event.index)
      if (events === undefined) waiting.set(event.index, [event])
      else events.push(event)
      return ''
    }
    let text = encode(event)
    for (const [index, events] of waiting) {
      if (open !== null) break
      waiting.delete(index)
      text += events.map(encode).join('')
    }
    return text
  }

  function encode(event: PartEvent): string {
    open = event.type === 'partEnd' ? null : event.index
    return blocks.event(event)
  }

  /** Parts that nobody ended are over with the answer. */
  function closeAll(): string {
    if (open === null) return ''
    return [open, ...waiting.keys()].map((index) => handle({ type: 'partEnd', index })).join('')
  }

  function fail(error: ChatError): string {
    isOver = true
    return record(errorBody(error))
  }

  return {
    event(event) {
      if (isOver) return ''
      collectInto(folded, event)
      switch (event.type) {
        case 'start':
          return ''
        case 'usage':
          return ''
        case 'partStart':
        case 'partDelta':
        case 'partEnd':
          return begin() + handle(event)
        case 'finish':
          return begin() + closeAll()
        case 'error':
          return fail(event.error)
      }
    },
    end() {
      if (isOver) return ''
      if (folded.finish === null) return fail(brokenStream('the answer ended too early'))
      isOver = true
      const delta = record({ type: 'message_delta', delta: stopOf(folded), usage: encodeUsage(folded.usage ?? {}) })
      return delta + record({ type: 'message_stop' })
    },
  }
}

/** Every record is named by its type. */
function record(body: JsonObject): string {
  return sseRecord(JSON.stringify(body), textAt(body, 'type'))
}
