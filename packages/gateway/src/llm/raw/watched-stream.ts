import { SseParser } from '../../wire/sse.ts'
import { EventStreamReader } from '../event-stream.ts'
import { incomplete, StreamEnd, unreadable } from './stream-end.ts'
import type { StreamFault } from './stream-fault.ts'

/** A streamed body that passes as it came, read for nothing but how it ends. */
export interface WatchedStream {
  chunk(chunk: Buffer): void
  /** The body ended; null when the answer was complete, or the format is not known. */
  end(): StreamFault | null
}

/** Null where the type of the content says that it is no stream. */
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

/** What came behind an event that is too long to be read, nobody knows. */
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
