import { parseJsonObject } from '@portico/http/json'
import { brokenStream, type StreamFault, streamFault } from '../response/chat-error.ts'
import type { EventStreamMessage } from '../streams/event-stream.ts'
import { exceptionOf } from '../formats/converse/errors.ts'
import { converse, errorInstead, KNOWN_STREAMS, type KnownStream } from './known-streams.ts'
import type { ChatError, JsonObject } from '../middle.ts'

/**
 * Watches the records of a stream that passes unchanged, and tells at the end whether the response was complete. The
 * first records are parsed until the format is recognized; after that only records with a mark of the format.
 */
export class StreamEnd {
  #format: KnownStream | null = null
  /** The number of further records that may identify the format. */
  #chances = CHANCES
  #isComplete = false
  #error: ChatError | null = null

  /** Reads the data of one server-sent event. */
  record(data: string): void {
    if (this.#format === null) {
      if (this.#chances > 0) this.#recognize(parseJsonObject(data))
    } else if (data === DONE) this.#isComplete = true
    else if (this.#format.marks.test(data)) this.#read(this.#format, parseJsonObject(data))
  }

  /** A record that was parsed already. */
  value(record: JsonObject): void {
    if (this.#format !== null) this.#read(this.#format, record)
    else if (this.#chances > 0) this.#recognize(record)
  }

  /** Reads one message of an AWS event stream: a Converse event, or a record of the model's vendor. */
  message({ headers, payload }: EventStreamMessage): void {
    if (headers.get(':message-type') !== 'event') {
      this.#error ??= exceptionOf(headers, parseJsonObject(payload.toString('utf8')))
      return
    }
    const type = headers.get(':event-type') ?? ''
    if (type === 'chunk') {
      const bytes = WRAPPED.exec(payload.toString('latin1'))?.[1]
      if (bytes !== undefined) this.record(Buffer.from(bytes, 'base64').toString('utf8'))
    } else if (type === 'messageStart') this.#format ??= converse
    else if (type === 'messageStop') this.#isComplete = true
  }

  /** The fault at the end of the body; null when the stream was complete, or its format is unknown. */
  fault(): StreamFault | null {
    if (this.#error !== null) return { code: 'stream_error', error: this.#error }
    return this.#format === null || this.#isComplete ? null : incomplete()
  }

  #recognize(record: JsonObject | null): void {
    this.#chances--
    if (record === null) return
    const format = KNOWN_STREAMS.find((known) => known.recognizes(record))
    if (format === undefined) this.#error ??= errorInstead(record)
    else {
      this.#format = format
      this.#read(format, record)
    }
  }

  #read(format: KnownStream, record: JsonObject | null): void {
    if (record === null) return
    this.#error ??= format.errorOf(record)
    if (format.isEnd(record)) this.#isComplete = true
  }
}

export function incomplete(): StreamFault {
  return streamFault(brokenStream('the stream of the provider ended too early'), 'stream_incomplete')
}

export function unreadable(why: string): StreamFault {
  return streamFault(brokenStream(`the stream of the provider cannot be read: ${why}`), 'stream_unreadable')
}

/** Streams may begin with comments of proxies and `ping` events. */
const CHANCES = 8
const DONE = '[DONE]'
const WRAPPED = /"bytes"\s*:\s*"([A-Za-z0-9+/=]+)"/
