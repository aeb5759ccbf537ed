import { SseParser } from '@portico/http/sse'
import { EventStreamReader } from '../streams/event-stream.ts'
import { incomplete, StreamEnd, unreadable } from './stream-end.ts'
import type { StreamFault } from '../response/chat-error.ts'

/** A streamed body that passes unchanged, read only to detect an incomplete end. */
interface WatchedStream {
  chunk(chunk: Buffer): void
  /** Called at the end of the body; null when the response was complete, or its format is unknown. */
  end(): StreamFault | null
}

/** Null when the content type is not a stream. */
export function watchStream(contentType: string | null): WatchedStream | null {
  const type = contentType?.toLowerCase() ?? ''
  if (type.startsWith(SSE_TYPE)) return new WatchedEvents()
  return type.startsWith(AWS_TYPE) ? new WatchedMessages() : null
}

class WatchedEvents implements WatchedStream {
  readonly #parser = new SseParser()
  readonly #end = new StreamEnd()

  chunk(chunk: Buffer): void {
    for (const { data } of this.#parser.push(chunk)) this.#end.record(data)
  }

  end(): StreamFault | null {
    for (const { data } of this.#parser.end()) this.#end.record(data)
    return eventsFault(this.#parser, this.#end)
  }
}

class WatchedMessages implements WatchedStream {
  readonly #reader = new EventStreamReader()
  readonly #end = new StreamEnd()

  chunk(chunk: Buffer): void {
    for (const message of this.#reader.push(chunk)) this.#end.message(message)
  }

  end(): StreamFault | null {
    return messagesFault(this.#reader, this.#end)
  }
}

/**
 * The fault at the end of the stream. After an event that is too long to parse, a missing end is not a fault, because
 * the end may have been in that event.
 */
export function eventsFault({ isOverflown }: SseParser, end: StreamEnd): StreamFault | null {
  const fault = end.fault()
  return isOverflown && fault?.code === 'stream_incomplete' ? null : fault
}

export function messagesFault({ failure, isPartial }: EventStreamReader, end: StreamEnd): StreamFault | null {
  if (failure !== null) return unreadable(failure)
  return end.fault() ?? (isPartial ? incomplete() : null)
}

export const SSE_TYPE = 'text/event-stream'
export const AWS_TYPE = 'application/vnd.amazon.eventstream'
