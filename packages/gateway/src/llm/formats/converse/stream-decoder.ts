import { brokenStream } from '../../chat-error.ts'
import { createEventStreamReader, type EventStreamMessage } from '../../event-stream.ts'
import type { ResponseContext, StreamDecoder } from '../../format.ts'
import { parseJsonObject } from '../../../wire/json.ts'
import type { ChatError, ChatEvent } from '../../middle.ts'
import { exceptionOf } from './errors.ts'
import { createEventReader } from './event-reader.ts'

/** AWS event stream: messages of JSON, each with its type in a header. */
export function createStreamDecoder(context: ResponseContext): StreamDecoder {
  const messages = createEventStreamReader()
  const reader = createEventReader(context)
  let isOver = false

  function read({ headers, payload }: EventStreamMessage): ChatEvent[] {
    const body = parseJsonObject(payload.toString('utf8'))
    if (headers.get(':message-type') !== 'event') return fail(exceptionOf(headers, body))
    if (body === null) return fail(brokenStream('the provider sent an event that is no JSON'))
    return reader.event(headers.get(':event-type') ?? '', body)
  }

  function fail(error: ChatError): ChatEvent[] {
    isOver = true
    return [{ type: 'error', error }]
  }

  return {
    push(chunk) {
      const events: ChatEvent[] = []
      for (const message of isOver ? [] : messages.push(chunk)) if (!isOver) events.push(...read(message))
      const failure = messages.failure()
      if (failure !== null && !isOver)
        events.push(...fail(brokenStream(`the provider sent a broken stream: ${failure}`)))
      return events
    },
    end() {
      if (isOver) return []
      const events = messages.isPartial() ? [] : reader.end()
      isOver = true
      return events.length > 0 ? events : fail(brokenStream('the provider ended its answer too early'))
    },
  }
}
